# SPDX-License-Identifier: BSD-2-Clause
"""Do the files of tools/deploy say what the systemd unit says, and agree?

    deploy.py INI [DAEMONSET]   writes the DaemonSet's configuration to INI; exits with 1
                                and a sentence for what is wrong
"""

import re
import sys
import yaml

wrong = []


def demand(ok, why):
    if not ok:
        wrong.append(why)


def read(path):
    with open(path) as f:
        return f.read()


def unit_capabilities():
    unit = read("tools/install/weft-agent.service.in")
    (words,) = re.findall(r"^AmbientCapabilities=(.*)$", unit, re.M)
    return {word.removeprefix("CAP_") for word in words.split()}


def check_container_file(wanted):
    text = read("tools/deploy/Containerfile")
    (given,) = re.findall(r"setcap (\S+)=ep", text)
    demand({c.removeprefix("cap_").upper() for c in given.split(",")} == wanted,
           "the container file gives " + given)
    said = set(",".join(re.findall(r"--cap-add=(\S+)", text)).split(","))
    demand(said == wanted, "its comment says %s" % sorted(said))
    (user,) = re.findall(r"^USER (\d+):\1$", text, re.M)
    demand("-o %s -g %s -m 700 /var/lib/weft /var/cache/weft" % (user, user) in text,
           "the folders are not the user's")
    # nobody gets a privilege in a step after that
    demand(text.rstrip().splitlines()[-2].startswith("USER "), "USER is not last but one")
    return int(user)


def check_security(pod, container, wanted, user):
    security = container["securityContext"]
    capabilities = security["capabilities"]
    demand(set(capabilities["add"]) == wanted and len(capabilities["add"]) == len(wanted),
           "the DaemonSet adds %s" % capabilities["add"])
    demand(capabilities["drop"] == ["ALL"], "it does not drop all others")
    demand(security["privileged"] is False, "it is privileged")
    demand(security["allowPrivilegeEscalation"] is True,
           "the file's capabilities would be ignored")
    demand(security["readOnlyRootFilesystem"] is True, "it may write its files")
    of_pod = pod["securityContext"]
    demand(of_pod["runAsNonRoot"] is True, "it may be root")
    demand({of_pod[k] for k in ("runAsUser", "runAsGroup", "fsGroup")} == {user},
           "its user is not that of the image")
    demand(of_pod["seccompProfile"]["type"] == "RuntimeDefault", "no seccomp")
    demand(pod["hostPID"] is True, "it is not in the host's pid namespace")
    for key in ("hostNetwork", "hostIPC"):
        demand(not pod.get(key), key)
    demand(not any("hostPath" in volume for volume in pod["volumes"]), "a host's folder")


def check_volumes(pod, container):
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    demand(set(mounts) == {v["name"] for v in pod["volumes"]}, "volumes and mounts differ")
    demand(mounts == {"config": "/etc/weft", "spool": "/var/lib/weft",
                      "cache": "/var/cache/weft"}, "mounts: %s" % mounts)
    demand(container["args"][:2] == ["--config", "/etc/weft/agent.ini"], "its arguments")
    names = {e["name"] for e in container["env"]}
    demand(set(re.findall(r"\$\((\w+)\)", " ".join(container["args"]))) <= names,
           "an argument of a variable that is not there")


def main(ini, path="tools/deploy/daemonset.yaml"):
    objects = {o["kind"]: o for o in yaml.safe_load_all(read(path))}
    daemons, config = objects["DaemonSet"], objects["ConfigMap"]
    template = daemons["spec"]["template"]
    pod = template["spec"]
    (container,) = pod["containers"]
    wanted = unit_capabilities()
    demand(len(wanted) == 6, "the unit has %s" % sorted(wanted))
    user = check_container_file(wanted)
    check_security(pod, container, wanted, user)
    check_volumes(pod, container)
    demand(template["metadata"]["labels"] == daemons["spec"]["selector"]["matchLabels"],
           "the selector selects others")
    for o in (daemons, config):
        demand(o["metadata"]["namespace"] == objects["Namespace"]["metadata"]["name"],
               "another namespace")
    demand({v["configMap"]["name"] for v in pod["volumes"] if "configMap" in v}
           == {config["metadata"]["name"]}, "another configuration")
    with open(ini, "w") as f:
        f.write(config["data"]["agent.ini"])
    for why in wrong:
        print(why)
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))

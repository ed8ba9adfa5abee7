// SPDX-License-Identifier: BSD-2-Clause
// speedscope.js NODE_MODULES_PARENT FILE: checks it against speedscope's schema,
// prints what each profile adds up to.
const fs = require('fs')
const path = require('path')

const [, , folder, file] = process.argv
const modules = path.join(path.resolve(folder), 'node_modules')
const Ajv = require(path.join(modules, 'ajv'))
const find = (at) => fs.readdirSync(at, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? find(path.join(at, entry.name)) : [path.join(at, entry.name)])
const schema = find(path.join(modules, 'speedscope')).find((name) =>
  /file-format-schema.*\.json$/.test(name))
const check = new Ajv({ strict: false }).compile(JSON.parse(fs.readFileSync(schema)))
const made = JSON.parse(fs.readFileSync(file))

if (!check(made)) {
  console.error(check.errors)
  process.exit(1)
}
for (const profile of made.profiles)
  console.log(profile.name, profile.weights.reduce((a, b) => a + b, 0))

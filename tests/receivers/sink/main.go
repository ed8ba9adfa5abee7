// SPDX-License-Identifier: BSD-2-Clause

// sink takes OTLP profiles as the OpenTelemetry Collector does, by its own library, and
// checks what that does not: that each index is one of its table's, and that the first entry
// of each table is the zero value. It prints its port, then a line for each sample:
//
//	TYPE COUNT LEAF;CALLER;…;ROOT
//
// and "bad WHY" for what is wrong.
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
)

type table interface{ Len() int }

func has(t table, i int32, what string) error {
	if i < 0 || int(i) >= t.Len() {
		return fmt.Errorf("%s %d of %d", what, i, t.Len())
	}
	return nil
}

// A message is the zero value if it takes no bytes; tables that were not sent have no entry.
func checkZeroes(d pprofile.ProfilesDictionary) error {
	if d.StringTable().Len() == 0 || d.StringTable().At(0) != "" {
		return errors.New("string 0 is not empty")
	}
	if d.LinkTable().Len() == 0 || !d.LinkTable().At(0).TraceID().IsEmpty() {
		return errors.New("link 0 is not the zero value")
	}
	if d.StackTable().Len() == 0 || d.StackTable().At(0).LocationIndices().Len() != 0 {
		return errors.New("stack 0 is not the zero value")
	}
	for _, n := range []int{d.MappingTable().Len(), d.LocationTable().Len(),
		d.FunctionTable().Len(), d.AttributeTable().Len()} {
		if n == 0 {
			return errors.New("a table without an entry 0")
		}
	}
	return nil
}

func checkAttributes(d pprofile.ProfilesDictionary, indices interface {
	Len() int
	At(int) int32
}) error {
	for i := 0; i < indices.Len(); i++ {
		at := indices.At(i)
		if err := has(d.AttributeTable(), at, "attribute"); err != nil {
			return err
		}
		key := d.AttributeTable().At(int(at)).KeyStrindex()
		if err := has(d.StringTable(), key, "key of an attribute"); err != nil {
			return err
		}
	}
	return nil
}

func namesOf(d pprofile.ProfilesDictionary, location pprofile.Location) ([]string, error) {
	var names []string
	if err := has(d.MappingTable(), location.MappingIndex(), "mapping"); err != nil {
		return nil, err
	}
	if err := checkAttributes(d, location.AttributeIndices()); err != nil {
		return nil, err
	}
	for i := 0; i < location.Lines().Len(); i++ {
		f := location.Lines().At(i).FunctionIndex()
		if err := has(d.FunctionTable(), f, "function"); err != nil {
			return nil, err
		}
		name := d.FunctionTable().At(int(f)).NameStrindex()
		if err := has(d.StringTable(), name, "name"); err != nil {
			return nil, err
		}
		names = append(names, d.StringTable().At(int(name)))
	}
	return names, nil
}

func stackOf(d pprofile.ProfilesDictionary, sample pprofile.Sample) (string, error) {
	var names []string
	if err := has(d.StackTable(), sample.StackIndex(), "stack"); err != nil {
		return "", err
	}
	if err := has(d.LinkTable(), sample.LinkIndex(), "link"); err != nil {
		return "", err
	}
	if err := checkAttributes(d, sample.AttributeIndices()); err != nil {
		return "", err
	}
	locations := d.StackTable().At(int(sample.StackIndex())).LocationIndices()
	for i := 0; i < locations.Len(); i++ {
		at := locations.At(i)
		if err := has(d.LocationTable(), at, "location"); err != nil {
			return "", err
		}
		more, err := namesOf(d, d.LocationTable().At(int(at)))
		if err != nil {
			return "", err
		}
		names = append(names, more...)
	}
	return strings.Join(names, ";"), nil
}

func show(out io.Writer, d pprofile.ProfilesDictionary, profile pprofile.Profile) error {
	kind := profile.SampleType().TypeStrindex()
	if err := has(d.StringTable(), kind, "type"); err != nil {
		return err
	}
	if profile.Period() <= 0 {
		return errors.New("a period of 0")
	}
	for i := 0; i < profile.Samples().Len(); i++ {
		sample := profile.Samples().At(i)
		stack, err := stackOf(d, sample)
		if err != nil {
			return err
		}
		if sample.Values().Len() != 1 {
			return fmt.Errorf("%d values", sample.Values().Len())
		}
		fmt.Fprintln(out, d.StringTable().At(int(kind)), sample.Values().At(0), stack)
	}
	return nil
}

func take(body []byte) (string, error) {
	var out bytes.Buffer
	request := pprofileotlp.NewExportRequest()
	if err := request.UnmarshalProto(body); err != nil {
		return "", err
	}
	all := request.Profiles()
	if err := checkZeroes(all.Dictionary()); err != nil {
		return "", err
	}
	for r := 0; r < all.ResourceProfiles().Len(); r++ {
		scopes := all.ResourceProfiles().At(r).ScopeProfiles()
		for s := 0; s < scopes.Len(); s++ {
			profiles := scopes.At(s).Profiles()
			for p := 0; p < profiles.Len(); p++ {
				if err := show(&out, all.Dictionary(), profiles.At(p)); err != nil {
					return "", err
				}
			}
		}
	}
	return out.String(), nil
}

func answer(w http.ResponseWriter, r *http.Request) {
	unpacked, err := gzip.NewReader(r.Body)
	if err == nil && r.Header.Get("Content-Type") != "application/x-protobuf" {
		err = errors.New("Content-Type " + r.Header.Get("Content-Type"))
	}
	var body []byte
	if err == nil {
		body, err = io.ReadAll(unpacked)
	}
	var text string
	if err == nil {
		text, err = take(body)
	}
	if err != nil {
		fmt.Println("bad", err)
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Print(text)
	response, _ := pprofileotlp.NewExportResponse().MarshalProto()
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.Write(response)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	http.HandleFunc("/v1development/profiles", answer)
	panic(http.Serve(listener, nil))
}

package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/tenantgate/tenantgate/doctor"
	"github.com/tenantgate/tenantgate/metrics"
	"github.com/tenantgate/tenantgate/policies"
	"github.com/tenantgate/tenantgate/policy"
	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
	"github.com/tenantgate/tenantgate/proxy/upstream"
	"github.com/tenantgate/tenantgate/proxy/wire"
)

// planBytes bounds the texts and plans that each policy keeps.
const planBytes = 64 << 20

// policyFiles reads the files that were named, or else the shipped ones. The first is
// the default policy.
func policyFiles(paths []string) ([]*policy.File, error) {
	var files []*policy.File
	for _, path := range paths {
		f, err := readPolicy(path)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		shipped, err := shippedPolicies()
		if err != nil {
			return nil, err
		}
		files = shipped
	}
	seen := map[string]bool{}
	for _, f := range files {
		if seen[f.Name] {
			return nil, fmt.Errorf("two policies have the name %q; each needs its own (metadata.name)", f.Name)
		}
		seen[f.Name] = true
	}
	return files, nil
}

// readPolicy reads and checks one policy: a shipped one by its name, or a file.
func readPolicy(path string) (*policy.File, error) {
	src, shipped := policies.Named(path)
	if !shipped {
		var err error
		if src, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("reading the policy (the bundled ones are %s): %w", strings.Join(policies.Names(), ", "), err)
		}
	}
	f, err := policy.Parse(src)
	if err == nil {
		err = doctor.CheckAccepted(f)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the policy %s: %w", path, err)
	}
	return f, nil
}

// shippedPolicies are default, inject and readonly, default first.
func shippedPolicies() ([]*policy.File, error) {
	var files []*policy.File
	for _, name := range policies.Names() {
		f, err := readPolicy(name)
		if err != nil {
			return nil, err
		}
		if name == "default" {
			files = append([]*policy.File{f}, files...)
		} else {
			files = append(files, f)
		}
	}
	return files, nil
}

// sets are the names that policies can refer to.
func sets() policy.Sets {
	return policy.Sets{Functions: policies.Sets(), Types: policies.Types(), Operators: policies.Operators(), Leakproof: policies.Leakproof(), Extensions: policies.Extensions()}
}

// newMetrics makes the metrics with the label values that the packages know.
func newMetrics() *metrics.Metrics {
	codes := []string{"client_closed"}
	for code := range proxy.Codes {
		codes = append(codes, string(code))
	}
	return metrics.New(metrics.Build{Version: version, Commit: commit}, metrics.Known{
		Endpoints: rest.Endpoints(), Codes: codes, Frontends: []string{"rest", wire.Frontend},
		Kinds:    []string{string(policy.Select), string(policy.Insert), string(policy.Update), string(policy.Delete), "command"},
		Outcomes: append(codes, "ok"), Stages: []string{"auth", "policy", "pool_wait", "upstream", "encode"},
		ErrorClasses: upstream.ErrorClasses(), Replaced: upstream.ReplaceReasons(), Connections: append(codes, "ok", "cancel", "protocol"), ClientStates: wire.States(), HTTPStates: rest.States(),
	})
}

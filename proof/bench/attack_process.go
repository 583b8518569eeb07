package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// In the field attackers have machines of their own. Here their clients are a process that has a tenth
// as much of the CPUs as any other where all want some: what the quiet servers lose is what tenantgate and
// Postgres do for the attacker, and not what it takes to attack. With less, at 19, it would not get to attacking.
const niceness = "10"

// against is what an attacker knows. It goes to the process by its environment.
type against struct {
	HTTP    string // address
	Project string
	Token   string
	URLs    []string // for Postgres clients, of each server
	Servers []string
}

const againstVariable = "BENCH_AGAINST"

// attackerCommand is the attackers' process.
type attackerCommand struct {
	Name    string `arg:"" help:"The attack."`
	Against string `required:"" env:"BENCH_AGAINST" help:"Whom, in JSON."`
}

// Run attacks until ctx ends, and prints what it was answered.
func (c *attackerCommand) Run(ctx context.Context) error {
	var of against
	if err := json.Unmarshal([]byte(c.Against), &of); err != nil {
		return err
	}
	all := attacks()
	i := slices.IndexFunc(all, func(a attack) bool { return a.name == c.Name })
	if i < 0 {
		return fmt.Errorf("there is no attack %q", c.Name)
	}
	a := &attacker{against: of, got: map[string]int{}}
	all[i].proceed(ctx, a)
	fmt.Print(a.received())
	if !a.attacked() {
		return fmt.Errorf("the attack %q did not take place: %s", c.Name, a.received())
	}
	return nil
}

// attackProcess is an attackers' process under way.
type attackProcess struct {
	cmd  *exec.Cmd
	said bytes.Buffer
}

// attack starts one.
func (of against) attack(ctx context.Context, name string) (*attackProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	told, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	h := &attackProcess{cmd: exec.CommandContext(ctx, "nice", "-n", niceness, self, "attacker", name)} //nolint:gosec // ourselves
	h.cmd.Env = append(os.Environ(), againstVariable+"="+string(told))
	h.cmd.Stdout, h.cmd.Stderr = &h.said, os.Stderr
	h.cmd.SysProcAttr = apart()
	h.cmd.WaitDelay = 10 * time.Second
	if err := h.cmd.Start(); err != nil {
		return nil, err
	}
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/autogroup", h.cmd.Process.Pid), []byte(niceness), 0) // where Linux divides time by session, nice counts within one
	return h, nil
}

// apart makes a process a session of its own, as a service is. Linux may divide the CPUs among sessions
// (sched(7), autogroup), and each of Postgres' processes is one: tenantgate together with all clients would
// have as much as one backend.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// end has the process end, and tells what it was answered; what does not end in time is killed. The error says that
// the attack did not take place.
func (h *attackProcess) end() (answered string, err error) {
	_ = h.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(3*time.Second, func() { _ = h.cmd.Process.Kill() })
	defer late.Stop()
	if err = h.cmd.Wait(); h.cmd.ProcessState.ExitCode() > 0 {
		return h.said.String(), fmt.Errorf("the attackers' process: %w", err)
	}
	return h.said.String(), nil
}

package embedded

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

const processLocale = "C.UTF-8"

// localeArgs give a cluster that knows characters (plain C would make it SQL_ASCII,
// and an é two of them) and sorts by code point on every machine.
func localeArgs() []string { return []string{"--encoding=UTF8", "--locale=C.UTF-8"} }

// dieWithParent has the kernel send sig to the child when its parent dies.
func dieWithParent(cmd *exec.Cmd, sig syscall.Signal) { cmd.SysProcAttr.Pdeathsig = sig }

// serves tells whether pid is a live server of the cluster, and not another process
// that got the number later. A server works in its cluster's folder.
func serves(pid int, pgData string) bool {
	cwd, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "cwd"))
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(pgData)
	return err == nil && cwd == target
}

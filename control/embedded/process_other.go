//go:build !linux

package embedded

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

const processLocale = "en_US.UTF-8"

// localeArgs sort by code point, as on Linux, but take the character classes from
// a locale that exists here: there is no C.UTF-8.
func localeArgs() []string {
	return []string{"--encoding=UTF8", "--locale=C", "--lc-ctype=en_US.UTF-8"}
}

// dieWithParent does nothing: only Linux can do it. The next start stops an orphan.
func dieWithParent(*exec.Cmd, syscall.Signal) {}

// serves tells whether pid is a live server of the cluster, and not another process
// that got the number later. A server keeps the arguments that it was started with.
func serves(pid int, pgData string) bool {
	out, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), "-D "+pgData+" ")
}

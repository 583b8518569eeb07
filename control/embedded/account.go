package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// account is the user whom Postgres runs as.
type account struct {
	name     string
	uid, gid uint32
	change   bool // the caller is root and must become this user
}

func (a account) credential() *syscall.Credential {
	if !a.change {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// give makes path the account's.
func (a account) give(path string) error {
	if !a.change {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// chooseAccount is the caller, or for root the owner of the existing cluster, or if
// there is none (pgData is empty) an account without rights. Postgres needs it to
// have a passwd entry.
func chooseAccount(pgData string) (account, error) {
	if uid := os.Geteuid(); uid != 0 {
		return accountByID(uid, false)
	}
	if pgData == "" {
		return unprivileged()
	}
	var st syscall.Stat_t
	if err := syscall.Stat(pgData, &st); err != nil {
		return account{}, fmt.Errorf("finding the cluster's owner: %w", err)
	}
	if st.Uid == 0 {
		return account{}, fmt.Errorf("%s belongs to root, and postgres refuses to run as root: change its owner (chown -R)", pgData)
	}
	return accountByID(int(st.Uid), true)
}

func accountByID(uid int, change bool) (account, error) {
	u, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return account{}, fmt.Errorf("user id %d needs a passwd entry, or postgres will not run: %w", uid, err)
	}
	return newAccount(u.Username, u.Uid, u.Gid, change)
}

func unprivileged() (account, error) {
	for _, name := range []string{"postgres", "_postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			return newAccount(u.Username, u.Uid, u.Gid, true)
		}
	}
	return firstAccount("/etc/passwd")
}

// firstAccount is the first entry of a passwd file that is not root's.
func firstAccount(passwd string) (account, error) {
	f, err := os.Open(passwd)
	if err != nil {
		return account{}, fmt.Errorf("looking for a user to run postgres as: %w", err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field := strings.Split(lines.Text(), ":")
		if len(field) < 4 || field[2] == "0" {
			continue
		}
		if a, err := newAccount(field[0], field[2], field[3], true); err == nil {
			return a, nil
		}
	}
	return account{}, errors.New("postgres refuses to run as root, and there is no other user: add one (useradd --system postgres)")
}

func newAccount(name, uid, gid string, change bool) (account, error) {
	u, err := strconv.ParseUint(uid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("user %s: %w", name, err)
	}
	g, err := strconv.ParseUint(gid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("user %s: %w", name, err)
	}
	return account{name: name, uid: uint32(u), gid: uint32(g), change: change}, nil
}

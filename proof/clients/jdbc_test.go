package clients_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// driver is where Debian's package has it.
const driver = "/usr/share/java/postgresql.jar"

// TestJDBC runs Postgres' JDBC driver, which says what it checks in lines of JSON. It needs
// Java's compiler, too, and is skipped where those are not there.
func TestJDBC(t *testing.T) {
	for _, program := range []string{"java", "javac"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing", program)
		}
	}
	if _, err := os.Stat(driver); err != nil {
		t.Skipf("%s is missing", driver)
	}
	classes := t.TempDir()
	if out, err := command(t, "", "jdbc", "", "javac", "-cp", driver, "-d", classes, "Crud.java"); err != nil {
		t.Fatal(out, err)
	}
	each(t, func(t *testing.T, url string) {
		out, err := command(t, "", "", url, "java", "-Xmx128m", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8", "-cp", driver+":"+classes, "Crud")
		checked(t, out, err)
	})
}

// checked takes in the lines of JSON in which a client says what it checks.
func checked(t *testing.T, out string, err error) {
	t.Helper()
	done := 0
	for line := range strings.Lines(out) {
		var check struct{ Name, Error string }
		if json.Unmarshal([]byte(line), &check) != nil {
			t.Error(line)
			continue
		}
		done++
		t.Run(check.Name, func(t *testing.T) {
			if check.Error != "" {
				t.Error(check.Error)
			}
		})
	}
	if err != nil || done < 5 {
		t.Errorf("%d checks, %v", done, err)
	}
}

package metrics_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// composeFile is what the tests need of compose.yaml.
type composeFile struct {
	Services map[string]composeService
	Secrets  map[string]struct{ File string }
	Networks map[string]struct{ Internal bool }
	Volumes  map[string]any
}

type composeService struct {
	User        string
	Build       struct{ Context, Dockerfile string }
	Environment map[string]string
	Secrets     []string
	Ports       []string
	Volumes     []string
	Networks    []string
	ReadOnly    bool     `yaml:"read_only"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	Ulimits     map[string]int
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	var c composeFile
	if err := yaml.Unmarshal(read(t, "compose.yaml"), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Services) == 0 {
		t.Fatal("compose.yaml has no services")
	}
	return c
}

// Whatever a service refers to is there: secrets, networks, volumes, files.
func TestComposeRefersToWhatExists(t *testing.T) {
	c := readCompose(t)
	for name, service := range c.Services {
		for _, secret := range service.Secrets {
			if _, defined := c.Secrets[secret]; !defined {
				t.Errorf("%s: there is no secret %s", name, secret)
			}
		}
		for _, network := range service.Networks {
			if _, defined := c.Networks[network]; !defined {
				t.Errorf("%s: there is no network %s", name, network)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if _, defined := c.Volumes[source]; defined {
				continue
			}
			if _, err := os.Stat(filepath.Join(deploy, source)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		for variable, value := range service.Environment {
			secret, isSecret := strings.CutPrefix(value, "/run/secrets/")
			if isSecret && !slices.Contains(service.Secrets, secret) {
				t.Errorf("%s: %s names a secret that is not mounted", name, variable)
			}
		}
		if service.Build.Dockerfile != "" {
			if _, err := os.Stat(filepath.Join(deploy, service.Build.Context, service.Build.Dockerfile)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// secrets.sh makes each file that compose.yaml mounts.
func TestComposeSecretsAreMade(t *testing.T) {
	script := string(read(t, "secrets.sh"))
	made := regexp.MustCompile(`(?m)^(password|url) (\w+)`).FindAllStringSubmatch(script, -1)
	var files []string
	for _, m := range made {
		files = append(files, m[2]+"_"+m[1])
		if m[1] == "url" {
			files = append(files, m[2]+"_password")
		}
	}
	for name, secret := range readCompose(t).Secrets {
		if base := filepath.Base(secret.File); base != name || !slices.Contains(files, base) {
			t.Errorf("secret %s: secrets.sh does not make %s", name, secret.File)
		}
	}
}

// Only loopback is published, and neither the database nor the operations listener is.
func TestComposePublishesOnlyTheFront(t *testing.T) {
	c := readCompose(t)
	for name, service := range c.Services {
		for _, port := range service.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s publishes %s beyond this machine", name, port)
			}
		}
	}
	if got := c.Services["tenantgate"].Ports; !slices.Equal(got, []string{"127.0.0.1:8080:8080", "127.0.0.1:6432:6432"}) {
		t.Errorf("tenantgate publishes %v", got)
	}
	if got := c.Services["tenantgate"].Environment["TENANTGATE_HTTP_TLS"]; got != "off" {
		t.Errorf("tenantgate has no certificate and TENANTGATE_HTTP_TLS is %q: it does not start on :8080", got)
	}
	if postgres := c.Services["postgres"]; len(postgres.Ports) > 0 || !slices.Equal(postgres.Networks, []string{"database"}) || !c.Networks["database"].Internal {
		t.Error("the database can be reached from outside")
	}
}

// The service listens on each port that is published, and says of Postgres clients whether
// they use TLS: on an address that is not loopback it does not start without saying so.
func TestComposeServesPostgresClients(t *testing.T) {
	c := readCompose(t)
	env := c.Services["tenantgate"].Environment
	if env["TENANTGATE_PG_ADDR"] != ":6432" {
		t.Errorf("TENANTGATE_PG_ADDR is %q: the published port leads to :6432", env["TENANTGATE_PG_ADDR"])
	}
	if env["TENANTGATE_PG_TLS"] != "disable" && (env["TENANTGATE_PG_TLS_CERT"] == "" || env["TENANTGATE_PG_TLS_KEY"] == "") {
		t.Error("without TENANTGATE_PG_TLS=disable a certificate and its key are needed")
	}
	for name, service := range c.Services {
		if _, other := service.Environment["TENANTGATE_PG_ADDR"]; other && name != "tenantgate" {
			t.Errorf("%s listens for Postgres clients, too", name)
		}
	}
}

func TestComposeConfinesTheService(t *testing.T) {
	for _, name := range []string{"tenantgate", "migrate"} {
		s := readCompose(t).Services[name]
		if !s.ReadOnly || s.User != "65532:65532" || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s is not confined", name)
		}
		if s.Ulimits["stack"] != 8<<20 {
			t.Errorf("%s: the parser's stack is not bounded to 8 MiB", name)
		}
		for variable, value := range s.Environment {
			if strings.Contains(value, "postgres://") {
				t.Errorf("%s: %s holds a secret itself", name, variable)
			}
		}
	}
}

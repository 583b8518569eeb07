package metrics_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

const deploy = "../deploy"

// ruleFile is what the tests need of a Prometheus rule file.
type ruleFile struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Record, Alert, Expr, For string
			Labels, Annotations      map[string]string
		}
	}
}

// dashboard is what the tests need of a Grafana dashboard.
type dashboard struct {
	Templating struct {
		List []struct{ Name, Definition string }
	}
	Panels []struct {
		ID      int
		Title   string
		Targets []struct{ Expr string }
		GridPos struct{ X, Y, W, H int }
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(deploy, path))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func readRules(t *testing.T) ruleFile {
	t.Helper()
	var rules ruleFile
	if err := yaml.UnmarshalWithOptions(read(t, "prometheus/alerts.yml"), &rules, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	return rules
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal(read(t, "grafana/dashboard.json"), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// series are the names of all samples that the process exposes.
func series(t *testing.T) []string {
	t.Helper()
	m := newMetrics()
	record(m)
	names := []string{"up"} // Prometheus' own
	for _, line := range scrape(t, m) {
		if line != "" && !strings.HasPrefix(line, "#") {
			names = append(names, line[:strings.IndexAny(line, "{ ")])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

var metricName = regexp.MustCompile(`\b(?:tenantgate|go|process|promhttp)[_:][a-zA-Z0-9_:]+`)

func TestAlertsNameOnlyWhatExists(t *testing.T) {
	known := series(t)
	rules := readRules(t)
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if rule.Record != "" {
				known = append(known, rule.Record)
			}
		}
	}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			names := metricName.FindAllString(rule.Expr, -1)
			if len(names) == 0 && !strings.Contains(rule.Expr, "up{") {
				t.Errorf("%s%s names no metric", rule.Record, rule.Alert)
			}
			for _, name := range names {
				if !slices.Contains(known, name) {
					t.Errorf("%s%s: there is no %s", rule.Record, rule.Alert, name)
				}
			}
		}
	}
}

func TestAlertsSayWhatToDo(t *testing.T) {
	for _, group := range readRules(t).Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" {
				continue
			}
			if severity := rule.Labels["severity"]; severity != "page" && severity != "ticket" {
				t.Errorf("%s: severity %q", rule.Alert, severity)
			}
			if rule.Annotations["summary"] == "" || rule.Annotations["description"] == "" {
				t.Errorf("%s: summary and description are needed", rule.Alert)
			}
		}
	}
}

func TestDashboardNamesOnlyWhatExists(t *testing.T) {
	known := series(t)
	d := readDashboard(t)
	for _, variable := range d.Templating.List {
		for _, name := range metricName.FindAllString(variable.Definition, -1) {
			if !slices.Contains(known, name) {
				t.Errorf("variable %s: there is no %s", variable.Name, name)
			}
		}
	}
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			for _, name := range metricName.FindAllString(target.Expr, -1) {
				if !slices.Contains(known, name) {
					t.Errorf("panel %s: there is no %s", panel.Title, name)
				}
			}
		}
	}
}

// What is counted and shown nowhere is found by nobody.
func TestDashboardShowsEveryMetric(t *testing.T) {
	source := string(read(t, "grafana/dashboard.json"))
	for _, name := range series(t) {
		family := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if strings.HasPrefix(name, "tenantgate_") && !strings.Contains(source, family) {
			t.Errorf("no panel shows %s", name)
		}
	}
}

func TestDashboardPanelsDoNotOverlap(t *testing.T) {
	taken := map[[2]int]string{}
	ids := map[int]bool{}
	for _, panel := range readDashboard(t).Panels {
		if ids[panel.ID] {
			t.Errorf("panel %s has the id of another", panel.Title)
		}
		ids[panel.ID] = true
		g := panel.GridPos
		if g.X+g.W > 24 {
			t.Errorf("panel %s is too wide", panel.Title)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other, is := taken[[2]int{x, y}]; is && other != panel.Title {
					t.Fatalf("panels %s and %s overlap", other, panel.Title)
				}
				taken[[2]int{x, y}] = panel.Title
			}
		}
	}
}

func TestRulesPassPromtool(t *testing.T) {
	program := promtool(t)
	for _, args := range [][]string{
		{"check", "config", "prometheus.yml"},
		{"check", "rules", "alerts.yml"},
		{"test", "rules", "alerts.test.yml"},
	} {
		command := exec.Command(program, args...)
		command.Dir = filepath.Join(deploy, "prometheus")
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// Every alert has a case in which it fires.
func TestEveryAlertIsTested(t *testing.T) {
	var cases struct {
		Tests []struct {
			Rules []struct {
				Alert string `yaml:"alertname"`
				Fires []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(read(t, "prometheus/alerts.test.yml"), &cases); err != nil {
		t.Fatal(err)
	}
	fires := map[string]bool{}
	for _, test := range cases.Tests {
		for _, rule := range test.Rules {
			fires[rule.Alert] = fires[rule.Alert] || len(rule.Fires) > 0
		}
	}
	for _, group := range readRules(t).Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" && !fires[rule.Alert] {
				t.Errorf("%s fires in no case", rule.Alert)
			}
		}
	}
}

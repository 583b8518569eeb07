package rest_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/tenantgate/tenantgate/proxy"
	"github.com/tenantgate/tenantgate/proxy/rest"
)

// The document's codes are the table's, each under its status, and nothing else.
func TestDocumentHasEveryCode(t *testing.T) {
	want := map[string][]string{}
	for code, meaning := range proxy.Codes {
		status := strconv.Itoa(meaning.Status)
		want[status] = append(want[status], string(code))
	}
	got := map[string][]string{}
	for _, item := range loadContract(t, "").Document().Paths.Map() {
		for _, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				for _, code := range codesOf(response.Value) {
					if !slices.Contains(got[status], code) {
						got[status] = append(got[status], code)
					}
				}
			}
		}
	}
	for _, codes := range []map[string][]string{want, got} {
		for status := range codes {
			slices.Sort(codes[status])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table against document:\n%s", diff)
	}
}

func codesOf(response *openapi3.Response) (codes []string) {
	media := response.Content.Get("application/json")
	if media == nil {
		return nil
	}
	for _, part := range media.Schema.Value.AllOf {
		if inner := part.Value.Properties["error"]; inner != nil && inner.Value.Properties["code"] != nil {
			for _, value := range inner.Value.Properties["code"].Value.Enum {
				codes = append(codes, value.(string))
			}
		}
	}
	return codes
}

// Each code of an error has an example that shows it.
func TestDocumentShowsEveryCode(t *testing.T) {
	for name, response := range loadContract(t, "").Document().Components.Responses {
		codes := codesOf(response.Value)
		for _, code := range codes {
			if response.Value.Content.Get("application/json").Examples[code] == nil {
				t.Errorf("response %s has no example for %s", name, code)
			}
		}
		if media := response.Value.Content.Get("application/json"); len(codes) > 0 && len(media.Examples) != len(codes) {
			t.Errorf("response %s: %d codes, %d examples", name, len(codes), len(media.Examples))
		}
	}
}

// Every error response names its headers; every response the request id.
func TestDocumentNamesHeaders(t *testing.T) {
	for path, item := range loadContract(t, "").Document().Paths.Map() {
		for method, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				wanted := []string{"X-Request-ID"}
				wanted = append(wanted, map[string][]string{"401": {"WWW-Authenticate"}, "405": {"Allow"}, "429": {"Retry-After"}, "503": {"Retry-After"}, "204": {"Allow"}}[status]...)
				for _, header := range wanted {
					if h := response.Value.Headers[header]; h == nil || !h.Value.Required {
						t.Errorf("%s %s %s: header %s is missing or optional", method, path, status, header)
					}
				}
			}
		}
	}
}

// What is documented is served, and what is served is documented.
func TestDocumentHasEveryRoute(t *testing.T) {
	w := newWorld(t, nil)
	for path, item := range w.contract.Document().Paths.Map() {
		path = strings.NewReplacer("{projectId}", projectID, "{serverId}", serverID).Replace(path)
		response, _ := w.do("OPTIONS", path, "")
		allowed := strings.Split(response.Header.Get("Allow"), ", ")
		documented := []string{}
		for method := range item.Operations() {
			documented = append(documented, method)
			if method == "GET" {
				documented = append(documented, "HEAD")
			}
		}
		slices.Sort(allowed)
		slices.Sort(documented)
		if diff := cmp.Diff(documented, allowed); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
	if got, want := len(rest.Endpoints()), 1+9; got != want {
		t.Errorf("%d endpoints, want %d: %v", got, want, rest.Endpoints())
	}
}

// The served JSON is the YAML file but for the place it is served at.
func TestServedDocument(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.BasePath = "/at/x" })
	status, body := w.call("GET", "/openapi.json", "")
	if status != 200 {
		t.Fatal(status)
	}
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	written, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	written.Servers = openapi3.Servers{{URL: "/at/x"}}
	want, err := json.Marshal(written)
	if err != nil {
		t.Fatal(err)
	}
	served, err := openapi3.NewLoader().LoadFromData([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(served)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

// The page loads nothing, runs nothing, and its policy lets its own styles pass.
func TestDocsPage(t *testing.T) {
	w := newWorld(t, func(_ *world, c *rest.Config) { c.BasePath = "/x" })
	response, page := w.do("GET", "/docs", "", "Accept: text/html")
	if got := response.Header.Get("Content-Type"); response.StatusCode != 200 || got != "text/html; charset=utf-8" {
		t.Fatalf("%d %s", response.StatusCode, got)
	}
	for _, banned := range []string{"<script", "<img", "<link", "<iframe", "url(", "@import", "http://", "https://", "onclick", "ZgotmplZ"} {
		if strings.Contains(page, banned) {
			t.Errorf("the page has %q", banned)
		}
	}
	for _, target := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		id, local := strings.CutPrefix(target[1], "#")
		if target[1] != "/x/openapi.json" && (!local || !strings.Contains(page, `id="`+id+`"`)) {
			t.Errorf("a link leads nowhere: %s", target[1])
		}
	}
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	if csp := response.Header.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
		t.Errorf("policy %s does not allow the style", csp)
	}
	for code := range proxy.Codes {
		if !strings.Contains(page, `id="error-`+string(code)+`"`) {
			t.Errorf("the page does not tell code %s", code)
		}
	}
}

package apidoc

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the page's two files
	"encoding/base64"
	"fmt"
	"html/template"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// Page is the document as one HTML page, and the Content-Security-Policy to serve it
// with: the page's own styles are allowed by their hash, and nothing else is.
func (d Document) Page() (page []byte, policy string, err error) {
	view, err := d.view()
	if err != nil {
		return nil, "", err
	}
	parsed, err := template.New("page").Parse(pageHTML)
	if err != nil {
		return nil, "", fmt.Errorf("parsing the page's template: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, view); err != nil {
		return nil, "", fmt.Errorf("rendering the page: %w", err)
	}
	sum := sha256.Sum256([]byte(pageCSS))
	return out.Bytes(), "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", nil
}

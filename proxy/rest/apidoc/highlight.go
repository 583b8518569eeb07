package apidoc

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// highlight marks up pretty JSON: keys, strings, numbers and literals.
func highlight(text string) template.HTML {
	token := regexp.MustCompile(`"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b`)
	var out strings.Builder
	end := 0
	for _, at := range token.FindAllStringSubmatchIndex(text, -1) {
		out.WriteString(html.EscapeString(text[end:at[0]]))
		word := text[at[0]:at[1]]
		class := "l"
		switch {
		case at[2] >= 0:
			class = "k"
		case word[0] == '"':
			class = "s"
		}
		out.WriteString(`<span class="` + class + `">` + html.EscapeString(word) + `</span>`)
		end = at[1]
	}
	out.WriteString(html.EscapeString(text[end:]))
	return template.HTML(out.String()) //nolint:gosec // every text in it went through html.EscapeString
}

package apidoc

import (
	"html"
	"html/template"
	"strings"
)

// markdown renders the subset of Markdown that the document uses. All text is escaped.
func markdown(text string) template.HTML {
	var out strings.Builder
	if strings.TrimSpace(text) == "" {
		return ""
	}
	for block := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		writeBlock(&out, strings.Split(block, "\n"))
	}
	return template.HTML(out.String()) //nolint:gosec // every text in it went through html.EscapeString
}

// writeBlock writes a block: a heading, a paragraph, a list, or a paragraph or
// heading that a list follows.
func writeBlock(out *strings.Builder, lines []string) {
	lead := 0
	for lead < len(lines) && !strings.HasPrefix(lines[lead], "- ") {
		lead++
	}
	if heading, found := strings.CutPrefix(lines[0], "### "); found {
		out.WriteString("<h3>" + inline(heading) + "</h3>")
		writeParagraph(out, lines[1:lead])
	} else {
		writeParagraph(out, lines[:lead])
	}
	writeList(out, lines[lead:])
}

func writeParagraph(out *strings.Builder, lines []string) {
	if len(lines) > 0 {
		out.WriteString("<p>" + inline(strings.Join(lines, " ")) + "</p>")
	}
}

// writeList writes items; lines that begin no item continue the one before.
func writeList(out *strings.Builder, lines []string) {
	if len(lines) == 0 {
		return
	}
	items := strings.Split("\n"+strings.Join(lines, "\n"), "\n- ")[1:]
	out.WriteString("<ul>")
	for _, item := range items {
		out.WriteString("<li>" + inline(strings.Join(strings.Fields(item), " ")) + "</li>")
	}
	out.WriteString("</ul>")
}

// inline renders `code` and **bold**. An opening mark without its closing one stays.
func inline(text string) string {
	var out strings.Builder
	for text != "" {
		before, rest, tag := nextMark(text)
		out.WriteString(html.EscapeString(before))
		if tag == "" {
			break
		}
		mark := map[string]string{"code": "`", "strong": "**"}[tag]
		inside, after, closed := strings.Cut(rest, mark)
		if !closed {
			out.WriteString(html.EscapeString(mark + rest))
			break
		}
		if tag == "code" {
			inside = html.EscapeString(inside)
		} else {
			inside = inline(inside)
		}
		out.WriteString("<" + tag + ">" + inside + "</" + tag + ">")
		text = after
	}
	return out.String()
}

// nextMark splits at the first mark; tag is "" when there is none.
func nextMark(text string) (before, rest, tag string) {
	code, bold := strings.Index(text, "`"), strings.Index(text, "**")
	switch {
	case code < 0 && bold < 0:
		return text, "", ""
	case bold < 0 || code >= 0 && code < bold:
		return text[:code], text[code+1:], "code"
	}
	return text[:bold], text[bold+2:], "strong"
}

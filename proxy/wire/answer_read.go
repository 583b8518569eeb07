package wire

import "strings"

// fact is a value of the session's; there is false for NULL.
type fact func(*session) (value string, there bool)

// Answers tells whether a text is answered here, whatever the policy.
func Answers(text string) bool { return answered(text) != nil }

// answered gives the answer to a text that needs no database, nil for any other. Nothing but
// words of a closed list is looked at, and the first other one ends it.
func answered(text string) *answer {
	const longest = 4 << 10 // bytes; nobody asks for that much
	if len(text) > longest {
		return nil
	}
	t := words{rest: text}
	if !strings.EqualFold(t.next(), "select") {
		return nil
	}
	var a answer
	if t.peek() == "*" {
		return t.only(&a)
	}
	for {
		if !t.fact(&a) {
			return answeredTypes(text)
		}
		switch t.next() {
		case ",":
		case ";":
			if t.next() != "" || t.broken {
				return nil
			}
			known := a
			return &known
		case "":
			if t.broken {
				return nil
			}
			known := a
			return &known
		default:
			return nil
		}
	}
}

// only reads SELECT * of one function, as TypeORM asks: the column is called what its alias is.
func (t *words) only(a *answer) *answer {
	t.next()
	if !strings.EqualFold(t.next(), "from") {
		return nil
	}
	if !t.fact(a) {
		return nil
	}
	if end := t.next(); end == ";" && t.next() != "" || end != ";" && end != "" || t.broken {
		return nil
	}
	return a
}

// fact reads one item of the list, with its alias.
func (t *words) fact(a *answer) bool {
	name := strings.ToLower(t.next())
	qualified := name == "pg_catalog"
	if qualified {
		if t.next() != "." {
			return false
		}
		name = strings.ToLower(t.next())
	}
	c := column{name: name}
	var give fact
	f, known := functions[name]
	called := t.peek() == "("
	switch {
	case name == "current_setting" && called:
		var ok bool
		if give, ok = t.currentSetting(); !ok {
			return false
		}
		c.of = textType
	case !known || called && !f.call || !called && (qualified || !f.bare):
		return false
	default:
		if called {
			if t.next(); t.next() != ")" {
				return false
			}
		}
		c.of, give = f.of, f.give
	}
	c.name = strings.Clone(name) // it was a view
	if !t.alias(&c) {
		return false
	}
	a.columns, a.facts = append(a.columns, c), append(a.facts, give)
	return len(a.facts) <= 32
}

// currentSetting reads the arguments of current_setting.
func (t *words) currentSetting() (fact, bool) {
	t.next()
	literal := t.next()
	if len(literal) < 2 || literal[0] != '\'' {
		return nil, false
	}
	name := strings.Clone(literal[1 : len(literal)-1])
	var none settings
	known := none.spelled(name) != ""
	switch t.next() {
	case ")":
		return setting(name), known
	case ",":
		missing, valid := parseBool(t.next())
		return setting(name), valid && (known || missing) && t.next() == ")"
	}
	return nil, false
}

// alias reads what a column is called, if that is said.
func (t *words) alias(c *column) bool {
	next := t.peek()
	as := strings.EqualFold(next, "as")
	if as {
		t.next()
		next = t.peek()
	}
	switch {
	case next == "" || next == "," || next == ";":
		return !as
	case next[0] == '"':
		c.name = strings.Clone(next[1 : len(next)-1])
	case isWord(next[0]) && as: // without AS, a keyword could follow
		c.name = strings.Clone(strings.ToLower(next))
	default:
		return false
	}
	t.next()
	return true
}

// words reads a text token by token; what it does not know ends it.
type words struct {
	rest   string
	broken bool
}

func isWord(b byte) bool {
	return b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func (t *words) peek() string {
	lookahead := *t
	return lookahead.next()
}

// next gives the next token, "" at the end or where there is none that it knows.
func (t *words) next() string {
	t.rest = strings.TrimLeft(t.rest, " \t\r\n\f\v")
	if t.rest == "" {
		return ""
	}
	n := 0
	switch b := t.rest[0]; {
	case isWord(b):
		for n = 1; n < len(t.rest) && (isWord(t.rest[n]) || t.rest[n] >= '0' && t.rest[n] <= '9'); n++ {
		}
		if n < len(t.rest) && (t.rest[n] >= 0x80 || t.rest[n] == '$') {
			n = 0
		}
	case strings.IndexByte(",;().*", b) >= 0:
		n = 1
	case b == '"' || b == '\'':
		if end := strings.IndexByte(t.rest[1:], b); end > 0 {
			n = end + 2
			if n < len(t.rest) && t.rest[n] == b || strings.IndexByte(t.rest[:n], '\\') >= 0 {
				n = 0
			}
		}
	}
	if n == 0 {
		t.broken, t.rest = true, ""
		return ""
	}
	token := t.rest[:n]
	t.rest = t.rest[n:]
	return token
}

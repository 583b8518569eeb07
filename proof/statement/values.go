package statement

import (
	"fmt"
	"strings"
)

// Needles are what a canary leaves behind in a result, in lower case: its word, its
// number, twice its number, the month of its days and the next, and its word in hex. A
// random UUID has one of them once in millions; it had the year alone once in 16,384.
var Needles = []string{"canary", "8675309", "17350618", "2675-03", "2675-04", "43414e415259"}

// canaryNumber stands in the numbers of other servers' rows.
const canaryNumber = 8675309

var words = []string{"ann", "bob", "cyd", "dee", "eve", "fay", "gus", "hal"}

// Sample is the i-th harmless value of a column, as a literal without its quotes. None of
// the functions of failures.go fails on it.
func Sample(t *Table, c *Column, i int) string {
	switch c.Kind {
	case ID, Ref:
		return key(c, t, i)
	case Name:
		return words[i*i%len(words)]
	case Digits:
		return fmt.Sprint(i)
	case Day, When:
		return fmt.Sprintf("2024-01-%02d", 1+i%27)
	case Mark:
		return string("!#|"[i%3])
	case Document:
		return fmt.Sprintf(`{"n": %d}`, i)
	case Small:
		return fmt.Sprint(1 + i%9)
	case Large:
		return fmt.Sprint(1000 + 37*i)
	case Amount:
		return fmt.Sprintf("%d.50", i%12)
	case Flag:
		return []string{"true", "false"}[i%2]
	case Moment:
		return fmt.Sprintf("2024-01-%02d %02d:30:00+00", 1+i%27, i%24)
	case Object:
		return fmt.Sprintf(`{"n": %d, "s": "%s", "a": [1, %d], "on": %t}`, i%7, words[i%len(words)], i, i%2 == 0)
	case Words:
		return fmt.Sprintf("{%s,red}", words[i%len(words)])
	case Numbers:
		return fmt.Sprintf("{%d,2,3}", i%5)
	case Octets:
		return fmt.Sprintf(`\x61626364656667%02x`, 'a'+i%20)
	case Token128:
		return fmt.Sprintf("00000000-0000-4000-8000-%012x", i)
	case Weight:
		return fmt.Sprintf("%d.5", i%10)
	case Code:
		return fmt.Sprintf("c%d", i%40)
	}
	return ""
}

// Canary is the i-th value of the same column for another server: it is recognised in a
// result, and a function of failures.go fails on it. A twin has the same keys as the
// server under test.
func Canary(t *Table, c *Column, i int, twin bool) string {
	switch c.Kind {
	case ID, Ref:
		if twin {
			return key(c, t, i)
		}
		return canaryKey(c, t, i)
	case Name:
		return fmt.Sprintf("CANARY-word[(%d", i)
	case Digits, Day:
		return fmt.Sprintf("CANARY-%d", i)
	case Mark:
		return "CANARY!"
	case Document:
		return "{CANARY"
	case Small:
		if i%4 == 0 {
			return fmt.Sprint(canaryNumber*10 + i%9)
		}
		return fmt.Sprint(canaryNumber)
	case Large:
		return fmt.Sprint(canaryNumber*1_000_000_000_000 + i)
	case Amount:
		return "8675309.75"
	case Flag:
		return []string{"true", "false"}[i%2]
	case When:
		return fmt.Sprintf("2675-03-%02d", 1+i%27)
	case Moment:
		return fmt.Sprintf("2675-03-%02d 10:00:00+00", 1+i%27)
	case Object:
		return `{"n": "CANARY", "s": "CANARY[(", "a": "CANARY", "on": "CANARY"}`
	case Words:
		return `{"CANARY[(",CANARY}`
	case Numbers:
		return fmt.Sprintf("{%d}", canaryNumber)
	case Octets:
		return `\xff43414e415259`
	case Token128:
		return fmt.Sprintf("8675309a-0000-4000-8000-%012x", i)
	case Weight:
		return "8675309.5"
	case Code:
		return "CANARY"
	}
	return ""
}

// key is the i-th key of a table, or a reference to it.
func key(c *Column, t *Table, i int) string {
	if c.Type != Text {
		return fmt.Sprint(i + 1)
	}
	return fmt.Sprintf("%s%d", prefix(c, t), i+1)
}

func canaryKey(c *Column, t *Table, i int) string {
	if c.Type != Text {
		return fmt.Sprint(canaryNumber*100 + i)
	}
	return fmt.Sprintf("CANARY-%s%d", prefix(c, t), i+1)
}

// prefix is the first letter of the table that a key is of.
func prefix(c *Column, t *Table) string {
	name := t.Name
	if c.Kind == Ref {
		name = c.To
	}
	return strings.ToLower(name[:1])
}

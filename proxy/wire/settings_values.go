package wire

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenantgate/tenantgate/proxy"
)

// applicationName takes any name; what is not ASCII is told as in Postgres.
func applicationName(value, _ string) (string, *proxy.Error) {
	clean := []byte(value)
	for i, b := range clean {
		if b < ' ' || b > '~' {
			clean[i] = '?'
		}
	}
	return string(clean[:min(len(clean), maxName)]), nil
}

func clientEncoding(value, _ string) (string, *proxy.Error) {
	letters := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(value))
	if letters == "utf8" || letters == "unicode" {
		return "UTF8", nil
	}
	return "", unsupportedValue("client_encoding", value, "UTF8")
}

func oneOf(name string, values ...string) func(value, _ string) (string, *proxy.Error) {
	return func(value, _ string) (string, *proxy.Error) {
		lower := strings.ToLower(value)
		if lower == "debug" {
			lower = "debug2"
		}
		if slices.Contains(values, lower) {
			return lower, nil
		}
		return "", invalidValue(name, value)
	}
}

func only(name, takes string) func(value, _ string) (string, *proxy.Error) {
	return func(value, _ string) (string, *proxy.Error) {
		if strings.EqualFold(value, takes) {
			return takes, nil
		}
		return "", unsupportedValue(name, value, takes)
	}
}

func onlyOn(name string) func(value, _ string) (string, *proxy.Error) {
	return func(value, _ string) (string, *proxy.Error) {
		switch on, valid := parseBool(value); {
		case !valid:
			return "", invalidValue(name, value)
		case !on:
			return "", unsupportedValue(name, value, "on")
		}
		return "on", nil
	}
}

// parseBool reads a Boolean as Postgres does: any beginning of a word that is not one of
// two words.
func parseBool(value string) (on, valid bool) {
	v := strings.ToLower(value)
	begins := func(word string, least int) bool { return len(v) >= least && strings.HasPrefix(word, v) }
	switch {
	case begins("true", 1), begins("yes", 1), begins("on", 2), v == "1":
		return true, true
	case begins("false", 1), begins("no", 1), begins("off", 2), v == "0":
		return false, true
	}
	return false, false
}

func extraFloatDigits(value, _ string) (string, *proxy.Error) {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err != nil || n < -15 || n > 3 {
		return "", invalidValue("extra_float_digits", value)
	}
	return strconv.Itoa(n), nil
}

// searchPath takes what finds the same tables as the connection's own: public, and the
// schemas beside it that hold none.
func searchPath(value, _ string) (string, *proxy.Error) {
	public := false
	for schema := range strings.SplitSeq(value, ",") {
		schema = strings.TrimSpace(schema)
		if n := len(schema); n >= 2 && schema[0] == '"' && schema[n-1] == '"' {
			schema = schema[1 : n-1]
		}
		switch schema {
		case "public":
			public = true
		case "$user", "pg_catalog":
		default:
			return "", unsupportedValue("search_path", value, `public, with "$user" and pg_catalog`)
		}
	}
	if !public {
		return "", unsupportedValue("search_path", value, `public, with "$user" and pg_catalog`)
	}
	return value, nil
}

// checkDateStyle reads a list of words as Postgres does: a style, an order, or both.
func checkDateStyle(value, before string) (string, *proxy.Error) {
	style, order, _ := strings.Cut(before, ", ")
	haveStyle, haveOrder := false, false
	set := func(part *string, have *bool, to string) bool {
		conflict := *have && *part != to
		*part, *have = to, true
		return !conflict
	}
	if strings.TrimSpace(value) == "" {
		return before, nil
	}
	for word := range strings.SplitSeq(value, ",") {
		word = strings.ToUpper(strings.Trim(strings.TrimSpace(word), `"`))
		ok := false
		switch {
		case word == "ISO" || word == "SQL":
			ok = set(&style, &haveStyle, word)
		case strings.HasPrefix(word, "POSTGRES"):
			ok = set(&style, &haveStyle, "Postgres")
		case word == "GERMAN":
			ok = set(&style, &haveStyle, "German")
			if !haveOrder {
				order = "DMY"
			}
		case word == "YMD":
			ok = set(&order, &haveOrder, "YMD")
		case word == "DMY" || strings.HasPrefix(word, "EURO"):
			ok = set(&order, &haveOrder, "DMY")
		case word == "MDY" || word == "US" || strings.HasPrefix(word, "NONEURO"):
			ok = set(&order, &haveOrder, "MDY")
		}
		if !ok {
			return "", invalidValue("DateStyle", value)
		}
	}
	return style + ", " + order, nil
}

// zoneName is what a time zone may consist of: a name, an abbreviation, an offset, or what
// POSIX has. Which of them there are, Postgres knows.
var zoneName = regexp.MustCompile(`^[A-Za-z0-9_+:,./<>-]{1,63}$`)

func checkTimeZone(value, _ string) (string, *proxy.Error) {
	if !zoneName.MatchString(value) {
		return "", invalidValue("TimeZone", value)
	}
	if upper := strings.ToUpper(value); upper == "UTC" || upper == "GMT" {
		return upper, nil
	}
	return value, nil
}

// provenZone tells a time zone that every Postgres has.
func provenZone(zone string) bool { return zone == "UTC" || zone == "GMT" || zone == "Etc/UTC" }

// spans are the units of a time, from the longest.
var spans = []struct {
	unit string
	span time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}}

// parseSpan reads a time as Postgres does: milliseconds, or a number with its unit.
func parseSpan(value string) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	digits := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz ")
	unit := time.Millisecond
	if word := strings.TrimSpace(value[len(digits):]); word != "" {
		i := slices.IndexFunc(spans, func(s struct {
			unit string
			span time.Duration
		}) bool {
			return s.unit == word
		})
		if i < 0 {
			return 0, false
		}
		unit = spans[i].span
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n*float64(unit) > float64(math.MaxInt32*int64(time.Millisecond)) {
		return 0, false
	}
	return time.Duration(math.RoundToEven(n*float64(unit)/float64(time.Millisecond))) * time.Millisecond, true
}

// checkSpan gives a time as SHOW writes it.
func checkSpan(name string) func(value, _ string) (string, *proxy.Error) {
	return func(value, _ string) (string, *proxy.Error) {
		span, valid := parseSpan(value)
		if !valid {
			return "", invalidValue(name, value)
		}
		if span == 0 {
			return "0", nil
		}
		for _, u := range spans {
			if span%u.span == 0 {
				return strconv.FormatInt(int64(span/u.span), 10) + u.unit, nil
			}
		}
		return "", invalidValue(name, value)
	}
}

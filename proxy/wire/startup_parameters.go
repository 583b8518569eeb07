package wire

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// said is what a start-up message says.
type said struct {
	user     string
	settings []asked  // those of "options" first, as Postgres makes them
	unknown  []string // extensions of the protocol that are asked for
}

// maxName is how long the name of a user or a database may be, in bytes, as a server's id:
// what is longer is cut, as Postgres cuts it at 63.
const maxName = 128

// maxSettings is how many settings a start-up message has at most, extensions of the protocol included:
// each takes more memory than its text, before a login. Drivers send less than twenty.
const maxSettings = 64

// What is wrong with a start-up message.
var (
	errLayout = &fatal{state: "08P01", code: "invalid_request", message: "invalid startup packet layout"}
	errNoUser = &fatal{state: "28000", code: "invalid_request", message: "no PostgreSQL user name specified in startup packet",
		hint: "The user is the id of the server."}
	errManySettings = &fatal{state: "54000", code: "invalid_request", message: "the startup packet has more than 64 settings",
		hint: "Set the others with SET after the login."}
	errReplication = &fatal{state: "0A000", code: "invalid_request", message: "replication is not supported"}
	errNoDatabase  = &fatal{state: "3D000", code: "not_found", message: "there is no such database for this user",
		hint: "User and database are both the id of the server; the database can be left out."}
	errNoTLS = &fatal{state: "28000", code: "invalid_request", message: "connections without TLS are not accepted",
		hint: "Connect with sslmode=verify-full and sslrootcert=, the authority's file, or what the driver has for them; sslmode=require encrypts, and does not check whom it talks to."}
)

// parseStartup reads what follows the version in a start-up message: pairs of texts, and a
// zero at the end.
func parseStartup(body []byte) (said, error) {
	if n := len(body); n == 0 || body[n-1] != 0 {
		return said{}, errLayout
	}
	var s said
	var user, database, options string
	for rest := body[:len(body)-1]; len(rest) > 0; {
		var name, value []byte
		var whole, valued bool
		name, rest, whole = bytes.Cut(rest, zero)
		value, rest, valued = bytes.Cut(rest, zero)
		if !whole || !valued || len(name) == 0 {
			return said{}, errLayout
		}
		if len(s.settings)+len(s.unknown) > maxSettings {
			return said{}, errManySettings
		}
		switch key, text := string(name), string(value); {
		case key == "user":
			user = text
		case key == "database":
			database = text
		case key == "options":
			options = text
		case key == "replication":
			if replicates(text) {
				return said{}, errReplication
			}
		case strings.HasPrefix(key, "_pq_."):
			s.unknown = append(s.unknown, key)
		default:
			s.settings = append(s.settings, asked{key, text})
		}
	}
	return s.complete(user, database, options)
}

// complete puts together what is spread over the message.
func (s said) complete(user, database, options string) (said, error) {
	s.user = name(user)
	if s.user == "" {
		return s, errNoUser
	}
	if database != "" && name(database) != s.user {
		return s, errNoDatabase
	}
	settings, err := parseOptions(options)
	if s.settings = append(settings, s.settings...); len(s.settings)+len(s.unknown) > maxSettings {
		return said{user: s.user}, errManySettings
	}
	return s, err
}

var zero = []byte{0}

// name gives the name of a user or a database as it is looked up.
func name(text string) string {
	if len(text) > maxName {
		text = text[:maxName]
	}
	return strings.Clone(strings.ToValidUTF8(text, "\uFFFD"))
}

// replicates tells whether a value of "replication" asks for that. What is not known does.
func replicates(value string) bool {
	return !slices.Contains([]string{"false", "off", "no", "0"}, strings.ToLower(value))
}

// parseOptions reads the settings of "options": those of a command line, as -c name=value
// and --name=value. Other switches of the program "postgres" are refused.
func parseOptions(text string) ([]asked, error) {
	var settings []asked
	words := splitOptions(text)
	if len(words) > 2*maxSettings {
		return nil, errManySettings
	}
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "-c" && i+1 < len(words):
			i++
			word = words[i]
		case strings.HasPrefix(word, "-c"):
			word = word[2:]
		case strings.HasPrefix(word, "--"):
			word = word[2:]
		default:
			return nil, badOption(word)
		}
		name, value, valued := strings.Cut(word, "=")
		if !valued || name == "" {
			return nil, badOption(words[i])
		}
		settings = append(settings, asked{strings.ReplaceAll(name, "-", "_"), value})
	}
	return settings, nil
}

func badOption(word string) error {
	return &fatal{state: "42601", code: "invalid_request", message: "invalid command-line argument for server process",
		hint: "There are -c name=value and --name=value, but not " + printable(word) + "."} // a hint is not logged: it could be a password
}

// splitOptions splits at white space. A backslash takes the next character as it is. Of more words than
// the settings that there may be it gives some too many.
func splitOptions(text string) []string {
	var words []string
	var word []byte
	begun, escaped := false, false
	for i := 0; i < len(text) && len(words) <= 2*maxSettings; i++ {
		switch b := text[i]; {
		case escaped:
			word, escaped = append(word, b), false
		case b == '\\':
			begun, escaped = true, true
		case strings.IndexByte(" \t\n\r\v\f", b) >= 0:
			if begun {
				words = append(words, string(word))
			}
			word, begun = word[:0], false
		default:
			word, begun = append(word, b), true
		}
	}
	if begun {
		words = append(words, string(word))
	}
	return words
}

// maxQuoted is how much of what a client wrote is repeated, in bytes.
const maxQuoted = 100

// printable gives a text of the client's as it can be repeated to it, and logged.
func printable(text string) string {
	cut := text
	if len(cut) > maxQuoted {
		cut = cut[:maxQuoted]
		for !utf8.ValidString(cut) && len(cut) > maxQuoted-utf8.UTFMax {
			cut = cut[:len(cut)-1]
		}
	}
	shown := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, cut)
	if len(cut) < len(text) {
		shown += "…"
	}
	return shown
}

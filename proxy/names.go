package proxy

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName        = 100   // characters of a server's or project's name
	maxDescription = 1_000 // characters of a server's description
)

// TidyName gives the name of a server or project as it is stored: trimmed. InvalidRequest
// when it has not 1 to 100 characters then, or a control character.
func TidyName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch n := utf8.RuneCountInString(name); {
	case !utf8.ValidString(name):
		return "", Refuse(InvalidRequest, `"name" must be UTF-8`)
	case n == 0 || n > maxName:
		return "", Refuse(InvalidRequest, `"name" must have 1 to `+strconv.Itoa(maxName)+" characters")
	case strings.ContainsFunc(name, unicode.IsControl):
		return "", Refuse(InvalidRequest, `"name" must not hold control characters`)
	}
	return name, nil
}

// CheckDescription tells what is wrong with a server's description, InvalidRequest: it
// has at most 1,000 characters, none of which is U+0000.
func CheckDescription(text string) error {
	switch {
	case !utf8.ValidString(text):
		return Refuse(InvalidRequest, `"description" must be UTF-8`)
	case utf8.RuneCountInString(text) > maxDescription:
		return Refuse(InvalidRequest, `"description" must have at most `+strconv.Itoa(maxDescription)+" characters")
	case strings.ContainsRune(text, 0):
		return Refuse(InvalidRequest, `"description" must not hold the character U+0000`)
	}
	return nil
}

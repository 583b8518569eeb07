package main

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// explainConfig says what is wrong in a configuration file and where. It never quotes
// the file beyond the name of a key: somebody may have put a secret into it.
func explainConfig(path configFile, err error) error {
	var at yaml.Error
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return fmt.Errorf("reading the configuration: %w", err)
	case !errors.As(err, &at):
		return fmt.Errorf("reading the configuration %s: %s", path, withoutValues(err.Error()))
	}
	place := string(path)
	if token := at.GetToken(); token != nil {
		place = fmt.Sprintf("%s:%d:%d", path, token.Position.Line, token.Position.Column)
	}
	return fmt.Errorf("reading the configuration: %s: %s", place, whatIsWrong(at))
}

var quotedValue = regexp.MustCompile(`"[^"]*"|'[^']*'`)

// withoutValues takes out of a library's message what it quotes of the file.
func withoutValues(message string) string { return quotedValue.ReplaceAllString(message, "…") }

// nameLike is what may be quoted: a key, and no value that stands where a key should.
var nameLike = regexp.MustCompile(`^[A-Za-z]{1,40}$`)

func whatIsWrong(at yaml.Error) string {
	var unknown *yaml.UnknownFieldError
	var mistyped *yaml.TypeError
	var overflow *yaml.OverflowError
	switch {
	case errors.As(at, &unknown) && nameLike.MatchString(unknown.Token.Value):
		if flag, secret := secretKeys()[unknown.Token.Value]; secret {
			return fmt.Sprintf("%s is a secret, and secrets are not read from this file: give --%s, %s or %[3]s_FILE", unknown.Token.Value, flag, variable(flag))
		}
		return fmt.Sprintf("there is no setting %s here: beside the sections endUsers and jwt the file holds the flags of serve in camel case, such as httpAddr", unknown.Token.Value)
	case errors.As(at, &unknown):
		return "there is no such setting"
	case errors.As(at, &mistyped):
		return "this must be " + wanted(mistyped.DstType)
	case errors.As(at, &overflow):
		return "this number is out of range"
	}
	return withoutValues(at.GetMessage())
}

// secretKeys are the flags that the file does not hold, by the names they would have in it.
func secretKeys() map[string]string {
	keys := map[string]string{}
	for i := range reflect.TypeFor[databases]().NumField() {
		flag := reflect.TypeFor[databases]().Field(i).Tag.Get("name")
		keys[camelCase(flag)] = flag
	}
	return keys
}

// camelCase turns a flag's name into that of its setting: database-url, databaseUrl.
func camelCase(flag string) string {
	words := strings.Split(flag, "-")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "TENANTGATE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// wanted names a type for somebody who writes YAML.
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[time.Duration]() {
		return "a duration such as 500ms or 10s"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a section of key: value lines"
	}
	return "text"
}

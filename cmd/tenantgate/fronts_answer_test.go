package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// fronted is what a front end answered: rows, or an error.
type fronted struct {
	rows        []string
	affected    int
	tags        []string
	code, state string // of an error; state is "" where REST says none

	types, parameters []uint32
	status            byte // of the transaction
}

// complete notes how a statement ended.
func (f *fronted) complete(tag string) {
	f.tags = append(f.tags, tag)
	if t := pgconn.NewCommandTag(tag); t.Insert() || t.Update() || t.Delete() {
		f.affected += int(t.RowsAffected())
	}
}

// String tells it in a line.
func (f fronted) String() string {
	if f.code != "" || f.state != "" {
		return strings.TrimSpace(f.code + " " + f.state)
	}
	return fmt.Sprintf("%d affected, rows %.300s", f.affected, strings.Join(f.rows, " "))
}

// same tells whether two front ends answered alike. REST tells an SQLSTATE only where
// Postgres' own words are told. The order of rows counts where the text asks for one.
func (f fronted) same(wire fronted, text string) bool {
	if f.code != "" || wire.code != "" || wire.state != "" {
		return f.code == wire.code && (f.state == "" || f.state == wire.state)
	}
	a, b := lasting(f.rows), lasting(wire.rows)
	if strings.Contains(text, "random()") {
		return true
	}
	if !strings.Contains(strings.ToUpper(text), "ORDER BY") {
		a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	}
	return f.affected == wire.affected && slices.Equal(a, b)
}

// lasting are rows without the moments at which they were made.
func lasting(rows []string) (all []string) {
	for _, r := range rows {
		all = append(all, moment.ReplaceAllString(r, "now"))
	}
	return all
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z`)

// restAnswer reads an answer of REST's.
func restAnswer(status int, body string) (f fronted, err error) {
	var answer struct {
		Rows         [][]json.RawMessage
		RowsAffected int
		Error        told
	}
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		return f, fmt.Errorf("status %d, %.100q: %w", status, body, err)
	}
	if status != http.StatusOK {
		f.code, f.state = answer.Error.Code, answer.Error.SQLState
		return f, nil
	}
	for _, row := range answer.Rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = restCell(c)
		}
		f.rows = append(f.rows, "["+strings.Join(cells, "|")+"]")
	}
	f.affected = answer.RowsAffected
	return f, nil
}

// restCell is a value as text: a string without its quotes, an array without its marks.
func restCell(c json.RawMessage) string {
	switch c[0] {
	case '"':
		var s string
		_ = json.Unmarshal(c, &s)
		return s
	case '[':
		return bare(string(c))
	}
	return string(c)
}

// bare is an array without what JSON and Postgres write differently.
func bare(array string) string {
	return strings.ToLower(strings.NewReplacer("[", "", "]", "", "{", "", "}", "", `"`, "", " ", "", `\`, "", "true", "t", "false", "f").Replace(array))
}

// The OIDs of types that REST writes in a way of its own.
const (
	boolOID, byteaOID, jsonOID, jsonbOID, timestampOID, timestamptzOID = 16, 17, 114, 3802, 1114, 1184
)

// wireRow is a row in text format, written as restAnswer writes REST's.
func wireRow(types []uint32, values [][]byte) string {
	cells := make([]string, len(values))
	for i, v := range values {
		switch {
		case v == nil:
			cells[i] = "null"
		case i < len(types):
			cells[i] = wireCell(types[i], string(v))
		default:
			cells[i] = string(v)
		}
	}
	return "[" + strings.Join(cells, "|") + "]"
}

func wireCell(oid uint32, v string) string {
	switch oid {
	case boolOID:
		return strconv.FormatBool(v == "t")
	case byteaOID:
		raw, _ := hex.DecodeString(strings.TrimPrefix(v, `\x`))
		return base64.StdEncoding.EncodeToString(raw)
	case jsonOID, jsonbOID:
		return restCell(json.RawMessage(v))
	case timestampOID, timestamptzOID:
		v = strings.Replace(v, " ", "T", 1)
		if utc, found := strings.CutSuffix(v, "+00"); found {
			return utc + "Z"
		}
		return v
	}
	if isArray(oid) {
		return bare(v)
	}
	return v
}

// isArray tells the array types of pg_catalog that the cases have.
func isArray(oid uint32) bool {
	return slices.Contains([]uint32{199, 1000, 1001, 1005, 1007, 1009, 1014, 1015, 1016, 1021, 1022, 1115, 1182, 1185, 1231, 2951, 3807}, oid)
}

package clients_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
)

// masked tells of a message what matters: its type, and of errors the SQLSTATE alone.
func masked(message pgproto3.BackendMessage) string {
	switch m := message.(type) {
	case *pgproto3.ErrorResponse:
		return line("ErrorResponse", struct{ Severity, Code string }{m.Severity, m.Code})
	case *pgproto3.NoticeResponse:
		return line("NoticeResponse", struct{ Severity, Code string }{m.Severity, m.Code})
	case *pgproto3.RowDescription:
		return line("RowDescription", fieldsOf(m))
	case *pgproto3.DataRow:
		return line("DataRow", valuesOf(m.Values))
	case *pgproto3.CommandComplete:
		return line("CommandComplete", string(m.CommandTag))
	case *pgproto3.ReadyForQuery:
		return line("ReadyForQuery", string(m.TxStatus))
	case *pgproto3.ParameterDescription:
		return line("ParameterDescription", m.ParameterOIDs)
	case *pgproto3.ParameterStatus:
		return line("ParameterStatus", []string{m.Name, m.Value})
	case *pgproto3.CopyData:
		return line("CopyData", valuesOf([][]byte{m.Data})[0])
	case *pgproto3.CopyOutResponse:
		return line("CopyOutResponse", []any{m.OverallFormat, m.ColumnFormatCodes})
	case *pgproto3.CopyInResponse:
		return line("CopyInResponse", []any{m.OverallFormat, m.ColumnFormatCodes})
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", message), "*pgproto3.")
}

func line(kind string, what any) string {
	b, err := json.Marshal(what)
	if err != nil {
		return err.Error()
	}
	return kind + " " + string(b)
}

// fieldsOf tells names, types and formats.
func fieldsOf(m *pgproto3.RowDescription) any {
	type field struct {
		Name   string
		OID    uint32
		Size   int16
		Mod    int32 `json:",omitempty"`
		Format int16 `json:",omitempty"`
	}
	fields := []field{}
	for _, f := range m.Fields {
		mod := f.TypeModifier
		if mod == -1 {
			mod = 0
		}
		fields = append(fields, field{string(f.Name), f.DataTypeOID, f.DataTypeSize, mod, f.Format})
	}
	return fields
}

// valuesOf tells values: NULL, text, or bytes in hexadecimal.
func valuesOf(values [][]byte) []any {
	told := []any{}
	for _, v := range values {
		switch {
		case v == nil:
			told = append(told, nil)
		case !utf8.Valid(v) || strings.ContainsFunc(string(v), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }):
			told = append(told, fmt.Sprintf("\\x%x", v))
		default:
			told = append(told, string(v))
		}
	}
	return told
}

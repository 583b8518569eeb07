package rest

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tenantgate/tenantgate/proxy"
)

// The members of the bodies of 4.2 and 4.3.
var (
	createMembers = []string{"id", "name", "description"}
	updateMembers = createMembers[1:]
)

// readServer reads the body of 4.2 or 4.3; what is not in it is nil.
func (r *request) readServer(members []string) (given fields, err error) {
	if err := r.negotiate(true); err != nil {
		return given, err
	}
	if err := r.parameters(); err != nil {
		return given, err
	}
	given.members = members
	err = r.readObject(&given)
	return given, err
}

// fields is the body of 4.2 or 4.3.
type fields struct {
	members               []string
	id, name, description *string
}

func (f *fields) names() []string { return f.members }

func (f *fields) read(name string, decoder *jsontext.Decoder) (err error) {
	switch name {
	case "id":
		f.id, err = readID(decoder)
	case "name":
		f.name, err = readName(decoder)
	default:
		f.description, err = readDescription(decoder)
	}
	return err
}

// readID gives the id as it is: what it has to be, whoever makes servers says.
func readID(decoder *jsontext.Decoder) (*string, error) {
	text, err := readString(decoder, "id")
	return &text, err
}

// readName gives the name trimmed.
func readName(decoder *jsontext.Decoder) (*string, error) {
	text, err := readString(decoder, "name")
	if err != nil {
		return nil, err
	}
	text, err = proxy.TidyName(text)
	return &text, ofMember(err)
}

// readDescription gives the description as it is; null is the empty one.
func readDescription(decoder *jsontext.Decoder) (*string, error) {
	if decoder.PeekKind() == 'n' {
		_, err := decoder.ReadToken()
		return new(string), err
	}
	text, err := readString(decoder, "description")
	if err != nil {
		return nil, err
	}
	return &text, ofMember(proxy.CheckDescription(text))
}

// ofMember says that what is wrong with a value is wrong with a member of the body.
func ofMember(err error) error {
	if err == nil {
		return nil
	}
	return invalid("member " + proxy.AsError(err).Message)
}

// readString reads a member that must be a string.
func readString(decoder *jsontext.Decoder, name string) (string, error) {
	if decoder.PeekKind() != '"' {
		if err := decoder.SkipValue(); err != nil {
			return "", err
		}
		return "", invalid("member " + quoted(name) + " must be a string")
	}
	token, err := decoder.ReadToken()
	if err != nil {
		return "", err
	}
	return token.String(), nil
}

// timeLayout is ISO 8601 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// appendCreated appends a server as its creation tells it, with the key.
func appendCreated(dst []byte, server proxy.Server, key string) []byte {
	dst = appendIdentity(dst, server)
	dst = appendString(append(dst, `,"apiKey":`...), key)
	dst = appendString(append(dst, `,"projectId":`...), server.ProjectID)
	dst = appendTime(append(dst, `,"createdAt":`...), server.CreatedAt)
	return append(dst, '}')
}

// appendServer appends a server as all other endpoints tell it.
func appendServer(dst []byte, server proxy.Server) []byte {
	dst = appendIdentity(dst, server)
	dst = appendString(append(dst, `,"projectId":`...), server.ProjectID)
	dst = appendTime(append(dst, `,"createdAt":`...), server.CreatedAt)
	dst = appendTime(append(dst, `,"updatedAt":`...), server.UpdatedAt)
	dst = strconv.AppendBool(append(dst, `,"isActive":`...), server.Active)
	return append(dst, '}')
}

func appendIdentity(dst []byte, server proxy.Server) []byte {
	dst = appendString(append(dst, `{"id":`...), server.ID)
	dst = appendString(append(dst, `,"name":`...), server.Name)
	return appendString(append(dst, `,"description":`...), server.Description)
}

func appendTime(dst []byte, t time.Time) []byte {
	dst = t.UTC().AppendFormat(append(dst, '"'), timeLayout)
	return append(dst, '"')
}

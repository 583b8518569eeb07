package rest

import (
	"mime"
	"strconv"
	"strings"

	"github.com/tenantgate/tenantgate/proxy"
)

// wanted is what a client asked for with Accept and X-Int8.
type wanted struct {
	acceptable   bool // application/json is not excluded
	int8AsString bool
}

// accept reads an Accept field, RFC 9110 section 12.5.1. An absent one accepts all.
// Of the ranges that match, the most specific one counts; application/json with
// int8=string counts when its weight is not below that of the plain one.
func accept(header string) wanted {
	if text := strings.TrimSpace(header); text == "" || text == "*/*" || text == jsonType {
		return wanted{acceptable: true}
	}
	weight := map[string]float64{}
	for _, element := range splitList(header) {
		kind, params, err := mime.ParseMediaType(element)
		if err != nil {
			continue // what is no media range accepts nothing
		}
		if kind == jsonType && strings.EqualFold(params["int8"], "string") {
			kind = "int8"
		}
		weight[kind] = quality(params["q"])
	}
	asString, asked := weight["int8"]
	int8AsString := asked && asString > 0 && asString >= weight[jsonType]
	return wanted{acceptable: int8AsString || plainWeight(weight) > 0, int8AsString: int8AsString}
}

// plainWeight is the weight of application/json without parameters.
func plainWeight(weight map[string]float64) float64 {
	for _, kind := range []string{jsonType, "application/*", "*/*"} {
		if q, given := weight[kind]; given {
			return q
		}
	}
	return 0
}

// quality reads a weight; a missing one is 1, a malformed one 0.
func quality(text string) float64 {
	if text == "" {
		return 1
	}
	q, err := strconv.ParseFloat(text, 64)
	if err != nil || !(q >= 0 && q <= 1) { // written so that NaN fails too
		return 0
	}
	return q
}

// splitList splits at commas outside quoted strings.
func splitList(header string) []string {
	var elements []string
	start, quoted := 0, false
	for i := 0; i < len(header); i++ {
		switch {
		case quoted && header[i] == '\\':
			i++
		case header[i] == '"':
			quoted = !quoted
		case header[i] == ',' && !quoted:
			elements = append(elements, header[start:i])
			start = i + 1
		}
	}
	return append(elements, header[start:])
}

const jsonType = "application/json"

// negotiate checks that the answer will be acceptable, and, when the request has a
// body, that it is JSON in UTF-8 as it is. A missing Content-Type passes as JSON.
func (r *request) negotiate(hasBody bool) error {
	want := accept(string(r.head.value[fieldAccept]))
	if !want.acceptable {
		return proxy.Refuse(proxy.NotAcceptable, "the answer is application/json, which the Accept header excludes")
	}
	switch value := strings.ToLower(string(r.head.value[fieldInt8])); value {
	case "":
		r.int8AsString = want.int8AsString
	case "string", "number":
		r.int8AsString = value == "string"
	default:
		return proxy.Refuse(proxy.InvalidRequest, "header X-Int8 must be string or number")
	}
	if hasBody {
		return r.checkContentType()
	}
	return nil
}

func (r *request) checkContentType() error {
	if encoding := string(r.head.value[fieldContentEncoding]); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return proxy.Refuse(proxy.UnsupportedMediaType, "the body must come without a Content-Encoding")
	}
	if !r.head.seen[fieldContentType] || string(r.head.value[fieldContentType]) == jsonType {
		return nil
	}
	kind, params, err := mime.ParseMediaType(string(r.head.value[fieldContentType]))
	charset, given := params["charset"]
	if err != nil || kind != jsonType || given && !strings.EqualFold(charset, "utf-8") {
		return proxy.Refuse(proxy.UnsupportedMediaType, "the body must be sent with Content-Type: application/json (in UTF-8)")
	}
	return nil
}

package clients_test

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// spoken is a connection that a test speaks on, message by message.
type spoken struct {
	net.Conn
	in     *pgproto3.Frontend
	pid    uint32
	secret []byte
}

// answerTime bounds the wait for one message.
const answerTime = 20 * time.Second

// speak connects and authenticates. The connection ends with the test.
func speak(t testing.TB, url string) *spoken {
	t.Helper()
	s, err := trySpeak(t, url)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func trySpeak(t testing.TB, url string) (*spoken, error) {
	t.Helper()
	cfg, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	cfg.RuntimeParams["TimeZone"] = "UTC"
	conn, err := pgconn.ConnectConfig(t.Context(), cfg)
	if err != nil {
		return nil, err
	}
	hijacked, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = hijacked.Conn.Close() })
	return &spoken{Conn: hijacked.Conn, in: hijacked.Frontend, pid: hijacked.PID, secret: hijacked.SecretKey}, nil
}

// send sends the messages of a script in one go.
func (s *spoken) send(lines string) string {
	var b []byte
	for line := range strings.Lines(lines) {
		message, err := encoded(strings.TrimSpace(line))
		if err != nil {
			return fmt.Sprintf("%s: %v", line, err)
		}
		b = append(b, message...)
	}
	if _, err := s.Write(b); err != nil {
		return err.Error()
	}
	return ""
}

// encoded makes the bytes of a message out of its line. Raw takes any type, and a body in
// hexadecimal; CopyText is a CopyData of text.
func encoded(line string) ([]byte, error) {
	name, text, _ := strings.Cut(line, " ")
	if text == "" {
		text = "{}"
	}
	switch name {
	case "Raw":
		return encodedRaw(text)
	case "CopyText":
		var data string
		err := json.Unmarshal([]byte(text), &data)
		message, _ := (&pgproto3.CopyData{Data: []byte(data)}).Encode(nil)
		return message, err
	}
	kinds := map[string]pgproto3.FrontendMessage{
		"Parse": &pgproto3.Parse{}, "Bind": &pgproto3.Bind{}, "Describe": &pgproto3.Describe{}, "Execute": &pgproto3.Execute{},
		"Close": &pgproto3.Close{}, "Sync": &pgproto3.Sync{}, "Flush": &pgproto3.Flush{}, "Query": &pgproto3.Query{},
		"CopyData": &pgproto3.CopyData{}, "CopyDone": &pgproto3.CopyDone{}, "CopyFail": &pgproto3.CopyFail{},
		"FunctionCall": &pgproto3.FunctionCall{}, "Terminate": &pgproto3.Terminate{},
	}
	message := kinds[name]
	if message == nil {
		return nil, fmt.Errorf("no message %q", name)
	}
	if err := json.Unmarshal([]byte(text), message); err != nil {
		return nil, err
	}
	return message.Encode(nil)
}

func encodedRaw(text string) ([]byte, error) {
	var raw struct{ Type, Body string }
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, err
	}
	body, err := hex.DecodeString(raw.Body)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32([]byte(raw.Type), uint32(4+len(body))), body...), nil
}

// until reads up to the last of the types, and tells each message that came.
func (s *spoken) until(types []string) string {
	var said strings.Builder
	for _, kind := range types {
		for {
			message, err := s.receive(answerTime)
			if err != nil {
				fmt.Fprintln(&said, ended(err))
				return said.String()
			}
			fmt.Fprintln(&said, masked(message))
			if strings.HasSuffix(fmt.Sprintf("%T", message), "."+kind) {
				break
			}
		}
	}
	return said.String()
}

// ended tells in the same words how a connection has ended.
func ended(err error) string {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "(nothing came)"
	}
	return "(the connection ended)"
}

// receive reads one message.
func (s *spoken) receive(most time.Duration) (pgproto3.BackendMessage, error) {
	if err := s.SetReadDeadline(time.Now().Add(most)); err != nil {
		return nil, err
	}
	return s.in.Receive()
}

// end says goodbye, and gives what came that nobody waited for.
func (s *spoken) end() string {
	_, _ = s.Write([]byte("X\x00\x00\x00\x04"))
	var said strings.Builder
	for {
		message, err := s.receive(answerTime)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				said.WriteString(ended(err))
			}
			return said.String()
		}
		fmt.Fprintln(&said, masked(message))
	}
}

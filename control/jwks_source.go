package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	maxKeySet      = 1 << 20 // bytes
	keySetDeadline = 5 * time.Second
)

// keySource is where a key set is read from: a file, or a URL when client is set.
type keySource struct {
	where  string
	client *http.Client
}

func newKeySource(where string) (keySource, error) {
	if !strings.Contains(where, "://") {
		return keySource{where: where}, nil
	}
	u, err := url.Parse(where)
	if err != nil {
		return keySource{}, fmt.Errorf("reading the key set's URL: %w", err)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !ownMachine(u.Hostname())) {
		return keySource{}, errors.New("reading the key set's URL: keys are fetched over https only")
	}
	return keySource{where: where, client: &http.Client{
		Timeout:       keySetDeadline,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func ownMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (s keySource) read(ctx context.Context) ([]byte, error) {
	if s.client == nil {
		return s.readFile()
	}
	ctx, cancel := context.WithTimeout(ctx, keySetDeadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.where, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("its server answered %s", response.Status)
	}
	return readBounded(response.Body)
}

func (s keySource) readFile() ([]byte, error) {
	file, err := os.Open(s.where)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readBounded(file)
}

func readBounded(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxKeySet+1))
	if err == nil && len(raw) > maxKeySet {
		err = errors.New("it is larger than 1 MiB")
	}
	return raw, err
}

//go:build cluster

package clustertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
)

// object is a JSON object.
type object = map[string]any

// kept reuses connections, as apps do; fresh opens one for each request.
var (
	kept  = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	fresh = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
)

// person is a user with an account, at the address of their region.
type person struct {
	id, code  string
	base      string
	token     string
	community string
}

// call sends a request to a region's API; it returns an error for a status that is not a success.
func call(c *http.Client, method, address string, header http.Header, body any) (object, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if body == nil {
		text = nil
	}
	req, err := http.NewRequestWithContext(context.Background(), method, address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header = header.Clone()
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		text := fmt.Sprintf("%s %s answered %d: %.300s", method, address, resp.StatusCode, answer)
		return nil, &statusError{resp.StatusCode, text, time.Duration(seconds) * time.Second}
	}
	var got any
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, err
	}
	if o, ok := got.(object); ok {
		return o, nil
	}
	return object{"": got}, nil
}

// statusError is a response with another status than 200.
type statusError struct {
	status     int
	text       string
	retryAfter time.Duration
}

func (e *statusError) Error() string { return e.text }

// refused reports whether the status was 401.
func refused(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.status == http.StatusUnauthorized
}

// do sends a request as the user.
func (p *person) do(c *http.Client, method, base, path string, body any) (object, error) {
	return call(c, method, base+path, http.Header{"Authorization": {"Bearer " + p.token}, "Content-Type": {"application/json"}}, body)
}

// read reads a path as the user. Like a client that respects the rate limit, it waits as long as a 429 says, and tries again.
func (p *person) read(path string) error {
	for {
		_, err := p.do(kept, http.MethodGet, p.base, path, nil)
		status, ok := errors.AsType[*statusError](err)
		if !ok || status.status != http.StatusTooManyRequests {
			return err
		}
		<-time.After(status.retryAfter) //nolint:forbidigo // as the server has asked for
	}
}

// post creates a post in the user's community, and returns its id.
func (p *person) post(c *http.Client, text string) (string, error) {
	body := object{"targetType": "community", "targetId": p.community, "data": object{"text": text}}
	made, err := p.do(c, http.MethodPost, p.base, "/api/v4/posts", body)
	if err != nil {
		return "", err
	}
	return field(made, "posts", "postId"), nil
}

// field returns a text field of the first element of a list.
func field(answer object, list, name string) string {
	elements, _ := answer[list].([]any)
	if len(elements) == 0 {
		return ""
	}
	first, _ := elements[0].(object)
	text, _ := first[name].(string)
	return text
}

// base returns the address of a region's API, that of its Service, once it answers: pods may be ready before kube-proxy routes
// the Service to them.
func (s *suite) base(t *testing.T, code string) string {
	t.Helper()
	service := getIn(t, s, code, &corev1.Service{}, network+"-"+code)
	base := "http://" + serviceAddress(service, service.Spec.Ports[0].Port, s.homes[code])
	s.within(t, code+" answers", func() string {
		_, err := call(fresh, http.MethodGet, base+"/api/v3/communities", nil, nil)
		if status := (*statusError)(nil); err != nil && !errors.As(err, &status) {
			return err.Error()
		}
		return ""
	})
	return base
}

// authToken returns a token with which a user can sign in, requested with a server key like an app's server.
func (s *suite) authToken(t *testing.T, id, code string) string {
	t.Helper()
	_, key := s.activeKey(t, code)
	header := http.Header{"X-Server-Key": {key}, "Content-Type": {"application/json"}}
	answer, err := call(fresh, http.MethodPost, s.base(t, code)+"/api/v4/authentication/token", header, object{"userId": id})
	require.NoError(t, err)
	token, _ := answer[""].(string)
	require.NotEmpty(t, token)
	return token
}

// signIn signs a user in with the API key of the network's Secret and an authToken, because new networks are in secure
// mode.
func (s *suite) signIn(t *testing.T, id, code string) *person {
	t.Helper()
	var keys struct{ Keys []struct{ Key string } }
	secret := get(t, s, &corev1.Secret{}, render.APIKeysSecret(network))
	require.NoError(t, json.Unmarshal(secret.Data[keyring.APIKeysFile], &keys))
	p := &person{id: id, code: code, base: s.base(t, code)}
	header := http.Header{"X-Api-Key": {keys.Keys[0].Key}, "Content-Type": {"application/json"}}
	session, err := call(fresh, http.MethodPost, p.base+"/api/v5/sessions", header, object{
		"userId": id, "deviceId": "of " + id, "authToken": s.authToken(t, id, code),
	})
	require.NoError(t, err)
	p.token, _ = session["accessToken"].(string)
	require.NotEmpty(t, p.token)
	return p
}

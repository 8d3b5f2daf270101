package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plaza-social/plaza/platform/loopback"
	"github.com/plaza-social/plaza/platform/region"
)

// client sends requests as one caller.
type client struct {
	http   *http.Client
	base   string // URL
	header http.Header
	userID string // public id
	ownID  string // internal id
	token  string
}

// answer is a response.
type answer struct {
	status int
	body   []byte
}

// text returns the value at a path of the body.
func (a answer) text(path string) string { return gjson.GetBytes(a.body, path).String() }

// do sends a request, whose body is JSON unless it is empty.
func (c *client) do(ctx context.Context, method, path, body string, header ...string) (a answer, err error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header = c.header.Clone()
	request.Header.Set("Content-Type", "application/json")
	for pair := range slices.Chunk(header, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, content}, err
}

// must is do for a request that the attack depends on: any status but 200 is an error.
func (c *client) must(ctx context.Context, method, path, body string, header ...string) (answer, error) {
	a, err := c.do(ctx, method, path, body, header...)
	if err == nil && a.status != http.StatusOK {
		err = fmt.Errorf("%s %.80s: status %d: %.300s", method, path, a.status, a.body)
	}
	return a, err
}

// patiently is must, but sends the request again while the rate limit refuses it.
func (c *client) patiently(ctx context.Context, method, path string, header ...string) error {
	for {
		a, err := c.do(ctx, method, path, "", header...)
		switch {
		case err != nil:
			return err
		case a.status == http.StatusOK:
			return nil
		case a.status != http.StatusTooManyRequests:
			return fmt.Errorf("%s %s: status %d: %.300s", method, path, a.status, a.body)
		}
		pause(ctx, time.Second)
	}
}

// at returns the client in another region.
func (c *client) at(n *network, home region.Code) *client {
	other := *c
	other.base = n.facts.Regions[home].BaseURL
	return &other
}

// anonymous returns a client without credentials, at the address with a number.
func (n *network) anonymous(address int, header http.Header) *client {
	return &client{http: loopback.Client(address), base: n.facts.Regions[region.EU].BaseURL, header: header}
}

func (n *network) admin() *client {
	return n.anonymous(1, http.Header{"Authorization": {"Bearer " + n.facts.AdminToken}})
}

// newUser signs a new user in. Every user has an address, because sign-ins of an address are limited.
func (n *network) newUser(ctx context.Context) (*client, error) {
	number := int(n.signedIn.Add(1))
	c := n.anonymous(256+number, http.Header{"X-Api-Key": {n.facts.APIKey}})
	a, err := c.must(ctx, http.MethodPost, "/api/v5/sessions", fmt.Sprintf(`{"userId":"user-%d","deviceId":"device"}`, number))
	if err != nil {
		return nil, err
	}
	c.userID, c.ownID, c.token = a.text("users.0.userId"), a.text("users.0._id"), a.text("accessToken")
	c.header = http.Header{"Authorization": {"Bearer " + c.token}}
	return c, nil
}

func (n *network) newUsers(ctx context.Context, count int) ([]*client, error) {
	users := make([]*client, count)
	for i := range users {
		var err error
		if users[i], err = n.newUser(ctx); err != nil {
			return nil, err
		}
	}
	return users, nil
}

// newCommunity creates a community that others join.
func (c *client) newCommunity(ctx context.Context, members ...*client) (string, error) {
	a, err := c.must(ctx, http.MethodPost, "/api/v3/communities", `{"displayName":"community"}`)
	if err != nil {
		return "", err
	}
	id := a.text("communities.0.communityId")
	for _, member := range members {
		if _, err := member.must(ctx, http.MethodPost, "/api/v3/communities/"+id+"/join", ""); err != nil {
			return "", err
		}
	}
	return id, nil
}

// newPost creates a post in a community.
func (c *client) newPost(ctx context.Context, community, fields string) (string, error) {
	a, err := c.must(ctx, http.MethodPost, "/api/v4/posts", postIn(community, fields))
	return a.text("posts.0.postId"), err
}

func postIn(community, fields string) string {
	return fmt.Sprintf(`{"targetType":"community","targetId":%q,%s}`, community, fields)
}

// largePost are the fields of a post whose content has the maximum size, 100 KiB of as many values as possible.
var largePost = `"dataType":"custom.large","data":{"a":[` + strings.Repeat("0,", 51_000) + `0]}`

// accepted sends a number of requests, some of them at a time, and returns how many were answered with status 200. Only one other status
// may occur: the one with which the defence refuses requests.
func accepted(ctx context.Context, count, refusal int, send func(ctx context.Context, i int) (answer, error)) (float64, error) {
	var ok atomic.Int64
	err := together(ctx, count, func(i int) error {
		a, err := send(ctx, i)
		switch {
		case err != nil:
			return err
		case a.status == http.StatusOK:
			ok.Add(1)
		case a.status != refusal:
			return fmt.Errorf("status %d, neither 200 nor %d: %.300s", a.status, refusal, a.body)
		}
		return nil
	})
	return float64(ok.Load()), err
}

// beyondRefill is accepted without those requests that a rate limit allows because of the time that has passed.
func beyondRefill(ctx context.Context, count int, perSecond float64, send func(ctx context.Context, i int) (answer, error)) (float64,
	error,
) {
	began := time.Now()
	ok, err := accepted(ctx, count, http.StatusTooManyRequests, send)
	return ok - perSecond*time.Since(began).Seconds(), err
}

// parallel is the number of requests of an attack at a time.
const parallel = 30

// together calls f for each number below count, some at a time, and returns the errors.
func together(ctx context.Context, count int, f func(i int) error) error {
	var g sync.WaitGroup
	errs := make([]error, parallel)
	var next atomic.Int64
	for worker := range min(parallel, count) {
		g.Go(func() {
			for errs[worker] == nil && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				errs[worker] = f(i)
			}
		})
	}
	g.Wait()
	return errors.Join(errors.Join(errs...), ctx.Err())
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

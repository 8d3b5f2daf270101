package main

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// operation is a kind of request.
type operation struct {
	name     string
	maxTrips float64 // goal: database round trips
	request  func(n int64) []byte

	next atomic.Int64 // number of the next request; the servers share the sequence
}

// minRatio is the goal for the request rate relative to another plaza: no slower within the measurement error.
const minRatio = 0.97

// operations returns the operations, for a server at any address.
func operations(d *data) []*operation {
	reader, author := d.people[0], d.people[1]
	getPost := httpRequest("GET", "/api/v3/posts/"+d.post, reader.token, "")
	list := httpRequest("GET", "/api/v3/community-feeds/"+d.feed+"?limit=20", reader.token, "")
	creates := make([][]byte, len(d.circles))
	for i, circle := range d.circles {
		creates[i] = httpRequest("POST", "/api/v4/posts", author.token, createBody(circle))
	}
	flag := func(n int64) []byte {
		comment := d.comments[int(n)%len(d.comments)]
		flagger := d.people[int(n)/len(d.comments)%len(d.people)]
		return httpRequest("POST", "/api/v3/comments/"+comment+"/flag", flagger.token, `{"reason":"Others","detail":"Off the path"}`)
	}
	comment := func(n int64) []byte {
		return httpRequest("POST", "/api/v3/comments", d.people[int(n)%len(d.people)].token,
			`{"referenceType":"post","referenceId":"`+d.posts[int(n)%len(d.posts)]+`","data":{"text":"See you there"}}`)
	}
	react := func(n int64) []byte {
		by, name := int(n)/len(d.posts)%len(d.people), int(n)/len(d.posts)/len(d.people)
		return httpRequest("POST", "/api/v2/reactions", d.people[by].token,
			fmt.Sprintf(`{"referenceType":"post","referenceId":%q,"reactionName":"wave%d"}`, d.posts[int(n)%len(d.posts)], name))
	}
	return []*operation{
		{name: "get post", maxTrips: 2, request: func(int64) []byte { return getPost }},
		{name: "list 20 posts", maxTrips: 3, request: func(int64) []byte { return list }},
		{name: "create text post", maxTrips: 2, request: func(n int64) []byte { return creates[int(n)%len(creates)] }},
		{name: "flag a comment", maxTrips: 3, request: flag},
		{name: "create comment", maxTrips: 3, request: comment},
		{name: "add reaction", maxTrips: 3, request: react},
		{name: "list 20 comments", maxTrips: 3, request: func(int64) []byte {
			return httpRequest("GET", "/api/v3/comments?referenceType=post&referenceId="+d.thread+"&options%5Blimit%5D=20", reader.token, "")
		}},
		{name: "list 20 members", maxTrips: 3, request: func(int64) []byte {
			return httpRequest("GET", "/api/v3/communities/"+d.feed+"/users?options%5Blimit%5D=20", reader.token, "")
		}},
		{name: "list 20 channels", maxTrips: 3, request: func(int64) []byte {
			return httpRequest("GET", "/api/v3/channels?filter=member&options%5Blimit%5D=20", reader.token, "")
		}},
		{name: "sign in", maxTrips: 3, request: func(n int64) []byte {
			return signIn(d, d.people[int(n)%len(d.people)], n)
		}},
		{name: "create message, one channel", maxTrips: 4, request: func(n int64) []byte {
			return createMessage(d.people[int(n)%len(d.people)], d.channels[0])
		}},
		{name: "create message, all channels", maxTrips: 7, request: func(n int64) []byte {
			return createMessage(d.people[int(n)%4], d.channels[int(n)%len(d.channels)])
		}},
		{name: "list 20 messages", maxTrips: 3, request: func(int64) []byte {
			return httpRequest("GET", "/api/v5/messages?messageFeedId="+d.channels[0]+"&limit=20", reader.token, "")
		}},
	}
}

// signIn is a sign-in on one of a few devices of a user.
func signIn(d *data, p person, n int64) []byte {
	body := fmt.Sprintf(`{"userId":%q,"deviceId":"device%d","authToken":%q}`, p.public, n%2, p.signIn)
	return []byte(fmt.Sprintf("POST /api/v5/sessions HTTP/1.1\r\nHost: bench\r\nX-API-Key: %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s",
		d.apiKey, len(body), body))
}

func createMessage(by person, channelID string) []byte {
	return httpRequest("POST", "/api/v5/messages", by.token,
		`{"messageFeedId":"`+channelID+`","dataType":"text","data":{"text":"See you at the bench at ten"}}`)
}

func createBody(communityID string) string {
	body, err := json.Marshal(map[string]any{
		"targetType": "community", "targetId": communityID, "dataType": "text",
		"data": map[string]string{"title": "A bench with a view", "text": "Half way up the hill there is a bench. It was put there long ago."},
	})
	if err != nil {
		panic(err) // strings can always be marshalled
	}
	return string(body)
}

// httpRequest returns an HTTP/1.1 request as sent on the wire.
func httpRequest(method, path, token, body string) []byte {
	head := method + " " + path + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + token + "\r\n"
	if body != "" {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return []byte(head + "\r\n" + body)
}

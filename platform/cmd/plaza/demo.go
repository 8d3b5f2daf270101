package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// demoMark is the file that marks a network as filled.
const demoMark = "demo-filled"

// fillDemo fills the network through its API, once. Each user writes to their own region, as a real client would.
func fillDemo(ctx context.Context, facts devFacts, dir string) error {
	mark := filepath.Join(dir, demoMark)
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d := &demo{http: &http.Client{Timeout: time.Minute}, facts: facts, people: map[string]demoClient{}, categories: map[string]string{}}
	if err := d.fill(ctx); err != nil {
		return fmt.Errorf("filling the demo network: %w", err)
	}
	return writeFile(mark, "")
}

// demo is the state of filling the network.
type demo struct {
	http       *http.Client
	facts      devFacts
	people     map[string]demoClient // by user id
	categories map[string]string     // name, home -> id
}

// demoClient is the connection of a user or administrator to a region.
type demoClient struct {
	url     string
	header  http.Header // credentials for requests other than RPCs
	options connect.ClientOption
}

func (d *demo) clientOf(home region.Code, header, value string) demoClient {
	speak := connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			request.Header().Set(header, value)
			return next(ctx, request)
		}
	})
	return demoClient{url: d.facts.Regions[home].BaseURL, header: http.Header{header: {value}}, options: connect.WithInterceptors(speak)}
}

func (d *demo) fill(ctx context.Context) error {
	for _, p := range demoPeople {
		if err := d.signIn(ctx, p); err != nil {
			return err
		}
	}
	for _, c := range demoCommunities {
		if err := d.community(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

func (d *demo) signIn(ctx context.Context, p demoPerson) error {
	guest := d.clientOf(p.home, auth.HeaderAPIKey, d.facts.APIKey)
	sessions := plazav1connect.NewSessionServiceClient(d.http, guest.url, guest.options)
	made, err := sessions.CreateSession(ctx, &plazav1.CreateSessionRequest{
		UserId: p.id, DeviceId: "demo of " + p.id, DisplayName: &p.name,
	})
	if err != nil {
		return fmt.Errorf("signing %s in: %w", p.id, err)
	}
	d.people[p.id] = d.clientOf(p.home, "Authorization", "Bearer "+made.GetAccessToken())
	return nil
}

// category returns the id of the category called name at home, creating it if it does not exist.
func (d *demo) category(ctx context.Context, home region.Code, name string) (string, error) {
	key := name + "@" + home.String()
	if id, ok := d.categories[key]; ok {
		return id, nil
	}
	admin := d.clientOf(home, "Authorization", "Bearer "+d.facts.AdminToken)
	client := plazav1connect.NewCategoryServiceClient(d.http, admin.url, admin.options)
	made, err := client.CreateCategory(ctx, &plazav1.CreateCategoryRequest{Name: name})
	if err != nil {
		return "", fmt.Errorf("category %s: %w", name, err)
	}
	d.categories[key] = made.GetCategories()[0].GetCategoryId()
	return d.categories[key], nil
}

func (d *demo) community(ctx context.Context, c demoCommunity) error {
	category, err := d.category(ctx, c.home, c.category)
	if err != nil {
		return err
	}
	founder := d.people[c.founder]
	avatar, err := d.picture(ctx, founder, c.name)
	if err != nil {
		return fmt.Errorf("avatar: %w", err)
	}
	client := plazav1connect.NewCommunityServiceClient(d.http, founder.url, founder.options)
	made, err := client.CreateCommunity(ctx, &plazav1.CreateCommunityRequest{
		DisplayName: c.name, Description: c.description, CategoryIds: []string{category}, AvatarFileId: avatar,
	})
	if err != nil {
		return err
	}
	id := made.GetCommunities()[0].GetCommunityId()
	for _, member := range c.members {
		if err := d.join(ctx, member, id); err != nil {
			return fmt.Errorf("%s joins: %w", member, err)
		}
	}
	for _, p := range c.posts {
		if err := d.post(ctx, id, p); err != nil {
			return fmt.Errorf("post of %s: %w", p.author, err)
		}
	}
	return nil
}

func (d *demo) join(ctx context.Context, member, communityID string) error {
	v := d.people[member]
	client := plazav1connect.NewMemberServiceClient(d.http, v.url, v.options)
	_, err := client.JoinCommunity(ctx, &plazav1.JoinCommunityRequest{CommunityId: communityID})
	return err
}

func (d *demo) post(ctx context.Context, communityID string, p demoPost) error {
	made, err := d.posts(p.author).CreatePost(ctx, &plazav1.CreatePostRequest{
		TargetType: "community", TargetId: communityID, Data: textBody(p.text),
	})
	if err != nil {
		return err
	}
	id := made.GetPosts()[0].GetPostId()
	for _, c := range p.comments {
		if err := d.comment(ctx, id, "", c); err != nil {
			return fmt.Errorf("comment of %s: %w", c.author, err)
		}
	}
	if err := d.react(ctx, "post", id, p.reactions); err != nil {
		return err
	}
	for _, user := range p.flaggedBy {
		_, err := d.posts(user).FlagPost(ctx, &plazav1.FlagPostRequest{PostId: id})
		if err != nil {
			return fmt.Errorf("flag of %s: %w", user, err)
		}
	}
	return nil
}

func (d *demo) comment(ctx context.Context, postID, parentID string, c demoComment) error {
	made, err := d.comments(c.author).CreateComment(ctx, &plazav1.CreateCommentRequest{
		ReferenceType: "post", ReferenceId: postID, ParentId: parentID, Data: textBody(c.text),
	})
	if err != nil {
		return err
	}
	id := made.GetComments()[0].GetCommentId()
	for _, answer := range c.answers {
		if err := d.comment(ctx, postID, id, answer); err != nil {
			return fmt.Errorf("answer of %s: %w", answer.author, err)
		}
	}
	if err := d.react(ctx, "comment", id, c.reactions); err != nil {
		return err
	}
	for _, user := range c.flaggedBy {
		_, err := d.comments(user).FlagComment(ctx, &plazav1.FlagCommentRequest{CommentId: id})
		if err != nil {
			return fmt.Errorf("flag of %s: %w", user, err)
		}
	}
	return nil
}

func (d *demo) react(ctx context.Context, kind, id string, reactions []demoReaction) error {
	for _, r := range reactions {
		for _, user := range r.by {
			v := d.people[user]
			client := plazav1connect.NewReactionServiceClient(d.http, v.url, v.options)
			_, err := client.AddReaction(ctx, &plazav1.AddReactionRequest{
				ReferenceType: kind, ReferenceId: id, ReactionName: r.name,
			})
			if err != nil {
				return fmt.Errorf("%s of %s: %w", r.name, user, err)
			}
		}
	}
	return nil
}

func (d *demo) posts(user string) plazav1connect.PostServiceClient {
	v := d.people[user]
	return plazav1connect.NewPostServiceClient(d.http, v.url, v.options)
}

func (d *demo) comments(user string) plazav1connect.CommentServiceClient {
	v := d.people[user]
	return plazav1connect.NewCommentServiceClient(d.http, v.url, v.options)
}

func textBody(text string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{"text": structpb.NewStringValue(text)}}
}

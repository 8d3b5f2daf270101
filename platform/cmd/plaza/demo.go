package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	content, err := loadDemo()
	if err != nil {
		return err
	}
	d := &demo{http: &http.Client{Timeout: time.Minute}, facts: facts, people: map[string]demoClient{}, categories: map[string]string{}}
	if err := d.fill(ctx, content); err != nil {
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
	http   *http.Client
	url    string
	header http.Header // credentials
}

func (d *demo) clientOf(home region.Code, header, value string) demoClient {
	return demoClient{http: d.http, url: d.facts.Regions[home].BaseURL, header: http.Header{header: {value}}}
}

// speak returns a client of a service with the credentials of c.
func speak[T any](c demoClient, newClient func(connect.HTTPClient, string, ...connect.ClientOption) T) T {
	return newClient(c.http, c.url, connect.WithInterceptors(connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			maps.Copy(request.Header(), c.header)
			return next(ctx, request)
		}
	})))
}

func (d *demo) fill(ctx context.Context, content demoContent) error {
	for _, p := range content.People {
		if err := d.signIn(ctx, p); err != nil {
			return err
		}
	}
	for _, c := range content.Communities {
		if err := d.community(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return nil
}

func (d *demo) signIn(ctx context.Context, p demoPerson) error {
	server := d.clientOf(p.Home, auth.HeaderServerKey, d.facts.ServerKey)
	token, err := speak(server, plazav1connect.NewAuthenticationServiceClient).CreateToken(ctx, &plazav1.CreateTokenRequest{UserId: p.ID})
	if err != nil {
		return fmt.Errorf("authToken of %s: %w", p.ID, err)
	}
	guest := d.clientOf(p.Home, auth.HeaderAPIKey, d.facts.APIKey)
	made, err := speak(guest, plazav1connect.NewSessionServiceClient).CreateSession(ctx, &plazav1.CreateSessionRequest{
		UserId: p.ID, DeviceId: "demo of " + p.ID, DisplayName: &p.Name, AuthToken: &token.Token,
	})
	if err != nil {
		return fmt.Errorf("signing %s in: %w", p.ID, err)
	}
	d.people[p.ID] = d.clientOf(p.Home, "Authorization", "Bearer "+made.GetAccessToken())
	return nil
}

// category returns the id of the category called name at home, creating it if it does not exist.
func (d *demo) category(ctx context.Context, home region.Code, name string) (string, error) {
	key := name + "@" + home.String()
	if id, ok := d.categories[key]; ok {
		return id, nil
	}
	admin := d.clientOf(home, "Authorization", "Bearer "+d.facts.AdminToken)
	made, err := speak(admin, plazav1connect.NewCategoryServiceClient).CreateCategory(ctx, &plazav1.CreateCategoryRequest{Name: name})
	if err != nil {
		return "", fmt.Errorf("category %s: %w", name, err)
	}
	d.categories[key] = made.GetCategories()[0].GetCategoryId()
	return d.categories[key], nil
}

func (d *demo) community(ctx context.Context, c demoCommunity) error {
	category, err := d.category(ctx, c.Home, c.Category)
	if err != nil {
		return err
	}
	founder := d.people[c.Founder]
	avatar, err := d.picture(ctx, founder, c.Name)
	if err != nil {
		return fmt.Errorf("avatar: %w", err)
	}
	made, err := speak(founder, plazav1connect.NewCommunityServiceClient).CreateCommunity(ctx, &plazav1.CreateCommunityRequest{
		DisplayName: c.Name, Description: c.Description, CategoryIds: []string{category}, AvatarFileId: avatar,
	})
	if err != nil {
		return err
	}
	id := made.GetCommunities()[0].GetCommunityId()
	for _, member := range c.Members {
		if err := d.join(ctx, member, id); err != nil {
			return fmt.Errorf("%s joins: %w", member, err)
		}
	}
	for _, p := range c.Posts {
		if err := d.post(ctx, id, p); err != nil {
			return fmt.Errorf("post of %s: %w", p.Author, err)
		}
	}
	return nil
}

func (d *demo) join(ctx context.Context, member, communityID string) error {
	_, err := speak(d.people[member], plazav1connect.NewMemberServiceClient).JoinCommunity(ctx,
		&plazav1.JoinCommunityRequest{CommunityId: communityID})
	return err
}

func (d *demo) post(ctx context.Context, communityID string, p demoPost) error {
	made, err := speak(d.people[p.Author], plazav1connect.NewPostServiceClient).CreatePost(ctx, &plazav1.CreatePostRequest{
		TargetType: "community", TargetId: communityID, Data: textBody(p.Text),
	})
	if err != nil {
		return err
	}
	id := made.GetPosts()[0].GetPostId()
	for _, c := range p.Comments {
		if err := d.comment(ctx, id, "", c); err != nil {
			return fmt.Errorf("comment of %s: %w", c.Author, err)
		}
	}
	if err := d.react(ctx, "post", id, p.Reactions); err != nil {
		return err
	}
	for _, user := range p.FlaggedBy {
		_, err := speak(d.people[user], plazav1connect.NewPostServiceClient).FlagPost(ctx, &plazav1.FlagPostRequest{PostId: id})
		if err != nil {
			return fmt.Errorf("flag of %s: %w", user, err)
		}
	}
	return nil
}

func (d *demo) comment(ctx context.Context, postID, parentID string, c demoComment) error {
	made, err := speak(d.people[c.Author], plazav1connect.NewCommentServiceClient).CreateComment(ctx, &plazav1.CreateCommentRequest{
		ReferenceType: "post", ReferenceId: postID, ParentId: parentID, Data: textBody(c.Text),
	})
	if err != nil {
		return err
	}
	id := made.GetComments()[0].GetCommentId()
	for _, answer := range c.Answers {
		if err := d.comment(ctx, postID, id, answer); err != nil {
			return fmt.Errorf("answer of %s: %w", answer.Author, err)
		}
	}
	if err := d.react(ctx, "comment", id, c.Reactions); err != nil {
		return err
	}
	for _, user := range c.FlaggedBy {
		_, err := speak(d.people[user], plazav1connect.NewCommentServiceClient).FlagComment(ctx, &plazav1.FlagCommentRequest{CommentId: id})
		if err != nil {
			return fmt.Errorf("flag of %s: %w", user, err)
		}
	}
	return nil
}

func (d *demo) react(ctx context.Context, kind, id string, reactions []demoReaction) error {
	for _, r := range reactions {
		for _, user := range r.By {
			_, err := speak(d.people[user], plazav1connect.NewReactionServiceClient).AddReaction(ctx, &plazav1.AddReactionRequest{
				ReferenceType: kind, ReferenceId: id, ReactionName: r.Name,
			})
			if err != nil {
				return fmt.Errorf("%s of %s: %w", r.Name, user, err)
			}
		}
	}
	return nil
}

func textBody(text string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{"text": structpb.NewStringValue(text)}}
}

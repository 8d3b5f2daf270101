package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// row is a line of a file.
type row struct {
	kind      *kind
	number    int64
	raw       []byte
	id        string // of the object in the file
	userID    string // public id
	home      region.Code
	createdAt time.Time
	updatedAt time.Time
	data      map[string]json.RawMessage
	request   proto.Message // made of data

	communityID string   // of a member or post: the id in the file
	channelID   string   // of a channel, its members and its messages: the public id
	partners    []string // public ids of the users of a conversation
	ownerID     string   // of the wall of a post: the public id
	role        string   // of a member
	draft       *posting.Draft

	// What check has found.
	err       error // why the row cannot be imported
	present   bool
	internal  string      // internal id
	user      people.User // the author, creator or member
	community *communities.Community
	owner     people.User // of the wall
	channel   *messaging.Channel
	users     []people.User // of a conversation
	parentID  string        // of a message: the internal id
}

// key returns what identifies a row in its batch.
func (r *row) key() string {
	if r.kind.hasID {
		return r.id[2:] // the digits that are kept
	}
	parts := append([]string{r.communityID, r.channelID}, r.partners...)
	if r.kind != &channelKind && r.kind != &conversationKind {
		parts = append(parts, r.userID)
	}
	return strings.Join(parts, "\x00")
}

// refuse notes why the row cannot be imported.
func (r *row) refusef(format string, args ...any) { r.err = fmt.Errorf(format, args...) }

// keep accepts a row that exists, whatever has become of what it refers to.
func (r *row) keep() {
	if r.present {
		r.err = nil
	}
}

// kind is a type of lines.
type kind struct {
	name      string
	hasID     bool     // the line names the id of the object
	hasRegion bool     // the line may name the home
	hasUpdate bool     // the line may have the time of a change
	timeless  bool     // the line has no times
	inChannel bool     // the line is about an existing channel or conversation
	community string   // the field of data with the community, if there is one
	fields    []string // of data
	// parse checks the data of a row.
	parse func(i *Importer, r *row) error
	// check finds which rows exist, and sets the internal ids of the others. It follows Importer.find.
	check func(i *Importer, ctx context.Context, rows []*row) error
	// prepare is called before the transactions with the rows that do not exist, unless it is nil.
	prepare func(i *Importer, ctx context.Context, rows []*row) error
	// insert adds rows that do not exist, which are in the same place, to a transaction.
	insert func(i *Importer, tx *store.Tx, place string, rows []*row)
}

var kinds = []*kind{&userKind, &communityKind, &memberKind, &postKind, &channelKind, &channelMemberKind, &conversationKind, &messageKind}

func kindOf(name string) (*kind, error) {
	var names []string
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return nil, fmt.Errorf("type: must be %s", strings.Join(names, ", "))
}

// Requests returns the requests that Options.Decode must know.
func Requests() []proto.Message {
	return []proto.Message{
		&plazav1.CreateSessionRequest{}, &plazav1.UpdateUserRequest{}, &plazav1.CreateCommunityRequest{}, &plazav1.CreatePostRequest{},
		&plazav1.CreateChannelRequest{}, &plazav1.CreateConversationRequest{}, &plazav1.CreateMessageRequest{},
	}
}

// line is a line as JSON.
type line struct {
	Type      string                     `json:"type"`
	ID        string                     `json:"id"`
	UserID    string                     `json:"userId"`
	Region    string                     `json:"region"`
	CreatedAt string                     `json:"createdAt"`
	UpdatedAt string                     `json:"updatedAt"`
	Data      map[string]json.RawMessage `json:"data"`
}

// decodeLine decodes a line, which must have no other fields.
func decodeLine(raw []byte) (l line, err error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&l)
	if err == nil && !errors.Is(decoder.Decode(new(json.RawMessage)), io.EOF) {
		err = errors.New("the line must be one JSON object")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return l, fmt.Errorf("%s: must be %s", wrong.Field, map[bool]string{true: "an object", false: "a string"}[wrong.Field == "data"])
	}
	switch {
	case err == nil:
		return l, nil
	case strings.Contains(err.Error(), "unknown field"):
		return l, fmt.Errorf("%s: the fields are type, id, userId, region, createdAt, updatedAt and data",
			strings.TrimPrefix(err.Error(), "json: "))
	}
	return l, fmt.Errorf("the line must be one JSON object: %w", err)
}

// parse returns the row of a line.
func (i *Importer) parse(number int64, raw []byte) (*row, error) {
	l, err := decodeLine(raw)
	if err != nil {
		return nil, err
	}
	k, err := kindOf(l.Type)
	if err != nil {
		return nil, err
	}
	r := &row{kind: k, number: number, raw: raw, id: l.ID, userID: l.UserID, home: i.Region, data: l.Data}
	if err := r.takeHome(l.Region); err != nil {
		return nil, err
	}
	if err := errors.Join(r.requireIDs(), r.requireFields()); err != nil {
		return nil, err
	}
	if err := r.takeTimes(l, i.Now()); err != nil {
		return nil, err
	}
	return r, k.parse(i, r)
}

func (r *row) takeHome(name string) (err error) {
	switch {
	case name == "":
		return nil
	case !r.kind.hasRegion:
		return fmt.Errorf("region: must not be set for the type %s", r.kind.name)
	}
	if r.home, err = region.Parse(name); err != nil {
		return errors.New("region: must be us, eu or sg")
	}
	return nil
}

func (r *row) requireIDs() error {
	switch {
	case r.userID == "":
		return errors.New("userId: must not be empty")
	case !r.kind.hasID && r.id != "":
		return fmt.Errorf("id: must not be set for the type %s", r.kind.name)
	case r.kind.hasID && candidates(r.id) == nil:
		return fmt.Errorf("id: must be %s", idForm)
	}
	return nil
}

// requireFields returns an error if the data has a field that is not imported.
func (r *row) requireFields() error {
	for field := range r.data {
		if !slices.Contains(r.kind.fields, field) {
			return fmt.Errorf("data.%s: is not imported; a %s has %s", field, r.kind.name, strings.Join(r.kind.fields, ", "))
		}
	}
	return nil
}

// takeTimes sets the times, which are optional: a row without them is created now.
func (r *row) takeTimes(l line, now time.Time) (err error) {
	switch {
	case r.kind.timeless && l.CreatedAt != "":
		return fmt.Errorf("createdAt: must not be set for the type %s", r.kind.name)
	case !r.kind.hasUpdate && l.UpdatedAt != "":
		return fmt.Errorf("updatedAt: must not be set for the type %s", r.kind.name)
	}
	if r.createdAt, err = timeOf("createdAt", l.CreatedAt, now, now); err != nil {
		return err
	}
	if r.updatedAt, err = timeOf("updatedAt", l.UpdatedAt, r.createdAt, now); err != nil {
		return err
	}
	if r.updatedAt.Before(r.createdAt) {
		return errors.New("updatedAt: must not be before createdAt")
	}
	return nil
}

// timeOf parses a time, in milliseconds like all times of the API.
func timeOf(field, text string, otherwise, now time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	at = at.UTC().Truncate(time.Millisecond)
	if err != nil || at.Before(time.Unix(0, 0)) || at.After(now) {
		return at, fmt.Errorf("%s: must be a date-time such as 2021-03-04T05:06:07.890Z, from 1970 and not in the future", field)
	}
	return at, nil
}

// decode decodes the data, without the fields that the API's request does not have, into a request, and checks it.
func (r *row) decode(i *Importer, request proto.Message, own ...string) error {
	body := map[string]json.RawMessage{}
	for field, value := range r.data {
		if !slices.Contains(own, field) {
			body[field] = value
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r.request = request
	return inData(i.Decode(raw, request))
}

// value returns a value of the data, which must have a form; zero if there is none.
func value[T any](r *row, field, form string) (v T, err error) {
	if raw := r.data[field]; raw != nil && json.Unmarshal(raw, &v) != nil {
		return v, fmt.Errorf("data.%s: must be %s", field, form)
	}
	return v, nil
}

// internalIDs returns all internal ids that the objects of rows may have.
func internalIDs(rows []*row) []string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, candidates(r.id)...)
	}
	return service.SortedSet(ids)
}

package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// userKind imports the accounts. Their ids are the public ids.
var userKind = kind{
	name: "user", hasRegion: true, hasUpdate: true, fields: []string{"displayName", "description", "avatarCustomUrl", "metadata"},
	parse: (*Importer).parseUser, check: (*Importer).checkUsers, prepare: (*Importer).claimUsers, insert: (*Importer).insertUsers,
}

// parseUser checks the id as the first session does, and the profile as an update does.
func (i *Importer) parseUser(r *row) error {
	if region.ValidID(r.userID) {
		return errors.New("userId: must not have the form of an internal id")
	}
	first, err := json.Marshal(map[string]string{"userId": r.userID, "deviceId": "import"})
	if err != nil {
		return err
	}
	if err := i.Decode(first, &plazav1.CreateSessionRequest{}); err != nil {
		return err
	}
	if err := directory.CheckName("userId", r.userID); err != nil {
		return err
	}
	return r.decode(i, &plazav1.UpdateUserRequest{})
}

// checkUsers notes which users exist.
func (*Importer) checkUsers(_ context.Context, rows []*row) error {
	for _, r := range rows {
		r.internal, r.present = r.user.ID, r.user.ID != ""
	}
	return nil
}

// claimUsers claims the ids of new users. Only the claims of an interrupted import may exist.
func (i *Importer) claimUsers(ctx context.Context, rows []*row) error {
	newIDs := map[string]string{}
	for _, r := range rows {
		newIDs[r.userID] = i.NewID(r.home)
	}
	claimed, err := i.Directory.ClaimAll(ctx, newIDs)
	for _, r := range rows {
		r.internal = claimed[r.userID]
	}
	return err
}

func (*Importer) insertUsers(tx *store.Tx, _ string, rows []*row) {
	for _, r := range rows {
		r.insertUser(tx)
	}
}

// insertUser inserts a user as the first session does, and the rest of the profile as an update does.
func (r *row) insertUser(tx *store.Tx) {
	m, _ := r.request.(*plazav1.UpdateUserRequest)
	tx.InsertUser(people.User{ID: r.internal, PublicID: r.userID, DisplayName: cmp.Or(m.GetDisplayName(), r.userID)}, r.createdAt)
	change := people.UserChange{Description: m.Description, AvatarCustomURL: m.AvatarCustomUrl, Metadata: view.ChangedJSON(m.GetMetadata())}
	var stored *people.User
	tx.UpdateUser(r.internal, change, r.updatedAt, &stored)
}

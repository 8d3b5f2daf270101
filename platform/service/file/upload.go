package file

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Limits of an upload.
const (
	MaxFiles   = 10   // in one request
	maxName    = 1024 // characters
	maxAltText = 1000 // characters
)

// Kind is the type that the files of an upload must have, or Any.
type Kind string

// Any accepts every type of content.
const Any Kind = ""

// Form holds the fields of an upload other than its files. They may follow the files.
type Form struct {
	AccessType    string // public or network; the default is a setting
	FeedType      string // the use of a video; may be empty
	PreferredName string // instead of the name that came with the file
	AltText       string
}

var feedTypes = []string{"", "post", "story", "message", "chat", "clip"}

// Upload is the files of one request in progress. Either Finish creates all of them, or Abort removes everything.
type Upload struct {
	service *Service
	kind    Kind
	owner   *people.User // nil for an administrator
	home    region.Code
	files   []media.File
	// accessType is that of files whose form sets none.
	accessType string
	videos     map[string]network.VideoRules // by use
	closed     bool                          // whether the upload was finished or aborted, or left to the sweep
	tried      bool                          // whether Finish tried to create the files, which may have succeeded if it returned an error
	used       int64                         // bytes that the owner had uploaded today when the upload started
	received   int64                         // bytes that have arrived
}

// StartUpload confirms the caller and starts an upload.
func (s *Service) StartUpload(ctx context.Context, kind Kind) (*Upload, error) {
	f := s.NewRequest(ctx)
	var used []network.DailyUsage
	var settings network.Settings
	f.Settings(s.Region, &settings)
	f.DailyUsages(f.Caller.UserID, s.Now(), &used)
	f.Check(func() error { return s.QuotaLeft(slices.DeleteFunc(used, isNotUpload)) })
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	u := &Upload{service: s, kind: kind, owner: f.User(), home: s.Region, accessType: settings.DefaultAccessType, videos: settings.Videos}
	if u.owner != nil {
		u.home, u.used = s.HomeOf(u.owner.ID), usedBytes(used)
	} else if f.Caller.Kind != auth.Admin {
		return nil, fail.Unauthorized()
	}
	if !s.Storage.Has(u.home) {
		return nil, errNoStorage
	}
	return u, nil
}

func isNotUpload(u network.DailyUsage) bool {
	return u.Kind != network.UsageUploads && u.Kind != network.UsageUploadBytes
}

var (
	errNoStorage  = fail.Unavailable("this network keeps no files: no storage is configured", nil)
	errOwnerMoved = fail.Unavailable("the owner of the files has moved to another home region during the upload", nil)
	errAbandoned  = fail.Unavailable("the upload took too long", nil)
	errNoOwner    = fail.Unauthorized().WithDetails("the user was deleted during the upload")
)

// sweepGrace is how long past its deadline an upload is left alone, because the clocks of servers may differ.
const sweepGrace = 10 * time.Minute

// Add stores the content of a file. It is streamed to the storage and never held in memory as a whole.
func (u *Upload) Add(ctx context.Context, name string, source io.Reader) error {
	field := fmt.Sprintf("files[%d]", len(u.files))
	if len(u.files) == MaxFiles {
		return fail.Validation(fmt.Sprintf("files: must be at most %d", MaxFiles))
	}
	s, now := u.service, u.service.Now()
	f := media.File{
		ID: s.NewID(u.home), Name: clean(name), Exif: []byte("{}"), GPS: []byte("{}"), CreatedAt: now, UpdatedAt: now,
	}
	if u.owner != nil {
		f.OwnerID, f.OwnerPublicID = u.owner.ID, u.owner.PublicID
	}
	tx := s.Store.NewTx(u.home)
	tx.WithoutRecord() // Finish stores the file
	tx.InsertUpload(f.ID, now.Add(s.UploadTimeout+sweepGrace), now)
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	u.files = append(u.files, f)
	return u.take(ctx, field, &u.files[len(u.files)-1], arriving{source, u})
}

// take stores the content as the kind of the upload requires.
func (u *Upload) take(ctx context.Context, field string, f *media.File, source io.Reader) error {
	in := newIncoming(source, u.service.MaxBytes)
	found, err := in.sniff()
	if err != nil {
		return err
	}
	f.MimeType, f.Extension = found.mimeType, cmp.Or(found.extension, extensionOf(f.Name))
	if f.Type, err = u.kind.typeOf(field, found); err != nil {
		return err
	}
	if f.Type == "image" {
		return u.takeImage(ctx, field, f, in)
	}
	f.Size, err = u.service.write(ctx, f.ID, partFull, in)
	return err
}

// Parts of a file in the storage, in addition to the smaller sizes of an image.
const (
	partFull   = storage.PartFull
	partUpload = "upload" // the content as uploaded, if full will be different
)

// write stores a part. Its error tells a failing storage from a failing client.
func (s *Service) write(ctx context.Context, id, part string, in *incoming) (int64, error) {
	n, err := s.Storage.Write(ctx, id, part, in)
	switch {
	case err == nil:
		return n, nil
	case in.failure != nil:
		return n, in.failure
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return n, errAbandoned.Because(err)
	}
	return n, errStorage.Because(err)
}

var errStorage = fail.Unavailable("the storage of files did not answer", nil)

// writeBytes stores a part from memory.
func (s *Service) writeBytes(ctx context.Context, id, part string, content []byte) error {
	_, err := s.write(ctx, id, part, &incoming{source: bytes.NewReader(content), left: int64(len(content))})
	return err
}

// Finish creates the files in one transaction.
func (u *Upload) Finish(ctx context.Context, form Form) ([]*plazav1.File, error) {
	if err := form.check(); err != nil {
		return nil, err
	}
	if len(u.files) == 0 {
		return nil, fail.Validation("files: must be at least one file")
	}
	if err := u.requireVideosAllowed(form.FeedType); err != nil {
		return nil, err
	}
	if u.owner != nil && u.service.HomeOf(u.owner.ID) != u.home {
		return nil, errOwnerMoved
	}
	tx := u.service.Store.NewTx(u.home)
	if u.owner != nil {
		tx.GuardTarget("user", u.owner.ID, errNoOwner)
	}
	u.spendQuotas(tx)
	now := u.service.Now()
	for i := range u.files {
		f := &u.files[i]
		f.AccessType = cmp.Or(form.AccessType, u.accessType)
		f.AltText, f.FeedType = form.AltText, form.FeedType
		if form.PreferredName != "" {
			f.Name = clean(base(form.PreferredName))
		}
		f.CreatedAt, f.UpdatedAt = now, now
		auth.Created(ctx, "file", f.ID)
	}
	for _, f := range slices.SortedFunc(slices.Values(u.files), func(a, b media.File) int { return strings.Compare(a.ID, b.ID) }) {
		tx.InsertFile(f, errAbandoned)
	}
	created := service.Map(u.files, func(f media.File) *plazav1.File { return u.service.View.File(ctx, f, view.FileObject{}) })
	u.tried = true
	err := tx.Commit(ctx)
	u.closed = err == nil
	return created, err
}

// spendQuotas counts the files and their bytes.
func (u *Upload) spendQuotas(tx *store.Tx) {
	if u.owner == nil {
		return
	}
	var bytes int64
	for i := range u.files {
		bytes += u.files[i].Size
	}
	u.service.SpendQuota(tx, u.owner.ID, network.UsageUploads, int64(len(u.files)))
	u.service.SpendQuota(tx, u.owner.ID, network.UsageUploadBytes, bytes)
}

func (f Form) check() error {
	switch {
	case f.AccessType != "" && f.AccessType != media.AccessPublic && f.AccessType != media.AccessNetwork:
		return fail.Validation("accessType: must be public or network")
	case !slices.Contains(feedTypes, f.FeedType):
		return fail.Validation("feedType: must be post, story, message, chat or clip")
	case utf8.RuneCountInString(f.PreferredName) > maxName:
		return fail.Validation(fmt.Sprintf("preferredFilename: must be at most %d characters", maxName))
	case utf8.RuneCountInString(f.AltText) > maxAltText:
		return fail.Validation(fmt.Sprintf("altText: must be at most %d characters", maxAltText))
	}
	for name, text := range map[string]string{"preferredFilename": f.PreferredName, "altText": f.AltText} {
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return fail.Validation(name + ": must be text")
		}
	}
	return nil
}

// Abort ends the upload, and removes what was stored unless Finish succeeded. It must be called once. It works even if the request's
// context is done.
func (u *Upload) Abort(ctx context.Context) {
	u.depart()
	if u.closed || len(u.files) == 0 || defence.Off(defence.UploadRemoval) {
		return
	}
	u.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), u.service.Store.Limits().AbortUpload)
	defer cancel()
	ids, err := u.unfinished(ctx)
	for _, id := range ids {
		err = errors.Join(err, u.service.discard(ctx, u.home, id))
	}
	if err != nil {
		u.service.Log.WarnContext(ctx, "failed upload was left to the sweep", "file", u.files[0].ID, "error", err)
	}
}

// unfinished returns the ids of the files that will never exist. If the response to a commit was lost, the database knows them.
func (u *Upload) unfinished(ctx context.Context) ([]string, error) {
	ids := service.Map(u.files, func(f media.File) string { return f.ID })
	if !u.tried {
		return ids, nil
	}
	return u.service.abandon(ctx, u.home, ids)
}

// discard removes the objects of an upload that can no longer create a file, and then its row.
func (s *Service) discard(ctx context.Context, home region.Code, id string) error {
	if err := s.Storage.DeleteAll(ctx, id); err != nil {
		return err
	}
	tx := s.Store.NewTx(home)
	tx.WithoutRecord()
	tx.DeleteUpload(id)
	return tx.Commit(ctx)
}

// base returns the last element of a path with slashes or backslashes, or "" if there is none.
func base(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "/" || name == "." || name == ".." {
		return ""
	}
	return name
}

// clean returns a file name without control characters and of limited length.
func clean(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName])
	}
	return cmp.Or(strings.TrimSpace(name), "file")
}

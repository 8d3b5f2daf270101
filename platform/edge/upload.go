package edge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/file"
)

// Limits of a form beside its files.
const (
	maxFormParts = 50
	maxFieldSize = 16 << 10 // bytes: four for each character of the longest field
)

// upload takes the files of a form, one after the other as they arrive. The other fields may stand anywhere among them,
// so the files are stored first and become files of the network once the whole form is there.
func (f *FileStreams) upload(w http.ResponseWriter, request *http.Request, kind file.Kind, wrapped bool) error {
	ctx, err := f.Identify(request.Context(), request.Header)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, f.Files.UploadTimeout)
	defer cancel()
	body := newPatientBody(w, request)
	parts, err := partsOf(request, body)
	if err != nil {
		return err
	}
	upload, err := f.Files.StartUpload(ctx, kind)
	if err != nil {
		return err
	}
	defer upload.Abort(ctx)
	form, err := takeParts(ctx, upload, parts)
	if err != nil {
		return err
	}
	body.lift()
	files, err := upload.Finish(ctx, form)
	if err != nil {
		return err
	}
	return writeFiles(w, files, wrapped)
}

var errNoForm = errors.New("the body is no multipart/form-data")

func partsOf(request *http.Request, body io.Reader) (*multipart.Reader, error) {
	mediaType, parameters, err := mime.ParseMediaType(request.Header.Get("Content-Type"))
	boundary := parameters["boundary"]
	if err != nil || mediaType != "multipart/form-data" || boundary == "" || len(boundary) > 70 {
		return nil, fail.Validation("body: must be multipart/form-data with a boundary").Because(errNoForm)
	}
	return multipart.NewReader(body, boundary), nil
}

// takeParts reads the form to its end: a form that is cut off is no upload.
func takeParts(ctx context.Context, upload *file.Upload, parts *multipart.Reader) (file.Form, error) {
	var form file.Form
	field := "" // the name of the files' field
	for n := 0; ; n++ {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return form, nil
		case err != nil:
			return form, formError(err)
		case n == maxFormParts:
			return form, fail.Validation(fmt.Sprintf("body: must be at most %d parts", maxFormParts))
		}
		if name := fieldOf(part); isFile(name) {
			if field != "" && field != name {
				return form, fail.Validation(name + ": must not stand beside " + field)
			}
			field = name
		}
		if err := takePart(ctx, upload, &form, part); err != nil {
			return form, formError(err)
		}
	}
}

// formError is err as the interface has it; what is wrong with the form itself is the client's fault.
func formError(err error) error {
	if _, ours := errors.AsType[*fail.Error](err); ours {
		return err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || strings.HasPrefix(err.Error(), "multipart: ") || strings.HasPrefix(err.Error(), "malformed MIME header") {
		return fail.BadRequest().Because(err)
	}
	return err
}

// fieldOf is the name of a part's field, as lists and single values share it.
func fieldOf(part *multipart.Part) string { return strings.TrimSuffix(part.FormName(), "[]") }

// isFile tells the two names of a form's files; a form has one of them.
func isFile(name string) bool { return name == "file" || name == "files" }

func takePart(ctx context.Context, upload *file.Upload, form *file.Form, part *multipart.Part) error {
	name := fieldOf(part)
	if isFile(name) {
		return upload.Add(ctx, part.FileName(), part)
	}
	field := map[string]*string{
		"accessType": &form.AccessType, "feedType": &form.FeedType, "preferredFilename": &form.PreferredName, "altText": &form.AltText,
	}[name]
	text, err := io.ReadAll(io.LimitReader(part, maxFieldSize+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxFieldSize:
		return fail.Validation(fmt.Sprintf("%s: must be at most %d bytes", name, maxFieldSize))
	case field != nil:
		*field = string(text)
	}
	return nil
}

// parseQuery reads a query; what is broken in it is left out.
func parseQuery(raw string) url.Values {
	values, _ := url.ParseQuery(raw) // the values that it could read, whatever the error
	return values
}

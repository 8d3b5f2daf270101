package transfer

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/audit"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Audits exports the audit.
type Audits struct {
	Audit      *audit.Service
	RateLimits *edge.RateLimits
}

// Stream returns the operation, for edge.Options.
func (a *Audits) Stream() edge.Stream {
	return edge.Stream{Procedure: audit.ProcedureExport, Method: http.MethodGet, Path: "/api/v1/audit/events/export", Serve: a.serve}
}

// serve writes one JSON object per line.
func (a *Audits) serve(w http.ResponseWriter, request *http.Request) error {
	ctx, err := a.RateLimits.AdmitRequest(request.Context(), request.Header)
	if err != nil {
		return err
	}
	filter, err := auditFilter(parseQuery(request.URL.RawQuery))
	if err != nil {
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "application/x-ndjson")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Disposition", `attachment; filename="audit.ndjson"`)
	return a.Audit.Export(ctx, filter, func(events []*plazav1.AuditEvent) error {
		for _, event := range events {
			line, err := edge.MarshalJSON(event)
			if err != nil {
				return err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return err
			}
		}
		return nil
	})
}

// auditFilter returns the filters of a query.
func auditFilter(query url.Values) (*plazav1.ListAuditEventsRequest, error) {
	m := &plazav1.ListAuditEventsRequest{}
	for name, field := range map[string]struct {
		into *string
		max  int
	}{
		"actor": {&m.Actor, 200}, "operation": {&m.Operation, 100}, "targetType": {&m.TargetType, 50}, "targetId": {&m.TargetId, 200},
		"region": {&m.Region, 2},
	} {
		text := query.Get(name)
		if len([]rune(text)) > field.max || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
			return nil, fail.Validation(fmt.Sprintf("%s: must be text of at most %d characters", name, field.max))
		}
		*field.into = text
	}
	if m.GetRegion() != "" && !region.Code(m.GetRegion()).Valid() {
		return nil, fail.Validation("region: must be us, eu or sg")
	}
	for name, into := range map[string]**timestamppb.Timestamp{"from": &m.From, "to": &m.To} {
		if query.Get(name) == "" {
			continue
		}
		at, err := time.Parse(time.RFC3339, query.Get(name))
		if err != nil {
			return nil, fail.Validation(name + ": must be a time such as 2026-01-31T12:00:00Z")
		}
		*into = timestamppb.New(at)
	}
	return m, nil
}

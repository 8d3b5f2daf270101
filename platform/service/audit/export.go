package audit

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// exportPage is the number of events that an export reads at a time.
const exportPage = 50

// ProcedureExport is the name of the export in logs, metrics and events.
const ProcedureExport = "/plaza.v1.AuditService/ExportAuditEvents"

// Export passes all events that a request selects to write, newest first and a page at a time, so that its memory does not
// depend on their number. It ignores the page of the request. The export leaves an event before the first page is read. If
// a region is unavailable, Export fails: an export is complete or ends with an error.
func (s *Service) Export(ctx context.Context, req *plazav1.ListAuditEventsRequest, write func([]*plazav1.AuditEvent) error) error {
	if err := s.NewPrivilegedRequest(ctx, auth.ManageSecurity).Run(ctx); err != nil {
		return err
	}
	list, err := s.listOf(ctx, req)
	if err != nil {
		return err
	}
	if err := s.Store.NewTx(s.Region).Commit(s.recorder.Record(ctx, ProcedureExport)); err != nil {
		return err
	}
	list.Desc, list.Limit = true, exportPage+1
	list.After, _, list.AfterID = page.Cursor{Limit: exportPage}.Start(true)
	for more := true; more; {
		if more, err = s.exportPage(ctx, &list, write); err != nil {
			return err
		}
	}
	return nil
}

// exportPage exports the page at the position of list, and moves the position to its end.
func (s *Service) exportPage(ctx context.Context, list *network.AuditList, write func([]*plazav1.AuditEvent) error) (more bool, err error) {
	rows, err := service.Read(ctx, s.Deps, (*store.ReadBatch).ListAuditEvents, *list)
	if err != nil || len(rows) == 0 {
		return false, err
	}
	rows, _ = service.Page(page.Cursor{Limit: exportPage}, rows, false, true, position)
	events, err := s.events(ctx, rows)
	if err != nil {
		return false, err
	}
	last := rows[len(rows)-1]
	list.After, list.AfterID = last.At, last.ID
	return len(rows) == exportPage, write(events)
}

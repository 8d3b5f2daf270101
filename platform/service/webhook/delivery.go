package webhook

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/delivery"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// located is a delivery with its home.
type located struct {
	network.WebhookDelivery
	home region.Code
}

// ListWebhookDeliveries lists the deliveries of a webhook in a state, the latest first.
func (s *Service) ListWebhookDeliveries(ctx context.Context,
	req *plazav1.ListWebhookDeliveriesRequest,
) (*plazav1.ListWebhookDeliveriesResponse, error) {
	cursor, err := page.Parse(req.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	if _, err := s.find(ctx, req.GetWebhookId()); err != nil {
		return nil, err
	}
	query := network.WebhookDeliveryList{
		WebhookID: req.GetWebhookId(), State: cmp.Or(req.GetState(), network.DeliveryDead), Desc: !cursor.Back, Limit: cursor.Limit + 1,
	}
	rows, paging, err := service.Merged[located]{
		Cursor: cursor, Desc: query.Desc,
		At:   func(d located) (time.Time, string, string) { return d.At, "", d.ID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]located) { readPage(reads, query, from, into) },
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	return &plazav1.ListWebhookDeliveriesResponse{Deliveries: service.Map(rows, deliveryToProto), Paging: paging}, nil
}

// readPage queues the reads of a page at every home.
func readPage(reads *store.ReadBatch, query network.WebhookDeliveryList, from page.Cursor, into *[]located) {
	query.After, _, query.ID = from.Start(query.Desc)
	for _, home := range region.All() {
		var rows []network.WebhookDelivery
		reads.ListWebhookDeliveries(home, query, &rows)
		reads.Then(func() {
			for _, row := range rows {
				*into = append(*into, located{row, home})
			}
		})
	}
}

// ReplayWebhookDeliveries sends dead letters again.
func (s *Service) ReplayWebhookDeliveries(ctx context.Context,
	req *plazav1.ReplayWebhookDeliveriesRequest,
) (*plazav1.ReplayWebhookDeliveriesResponse, error) {
	if _, err := s.find(ctx, req.GetWebhookId()); err != nil {
		return nil, err
	}
	byHome := map[region.Code][]int64{}
	for _, id := range service.Distinct(req.GetDeliveryIds()) {
		home, seq, err := parseDeliveryID(id)
		if err != nil {
			return nil, fail.Validation("deliveryIds: " + err.Error())
		}
		byHome[home] = append(byHome[home], seq)
	}
	homes := slices.Sorted(maps.Keys(byHome))
	if len(homes) == 0 {
		homes = region.All()
	}
	total := int64(0)
	for _, home := range homes {
		var replayed int64
		tx := s.Store.NewTx(home)
		tx.ReplayWebhookDeliveries(req.GetWebhookId(), byHome[home], s.Now(), s.Now().Add(delivery.RetryFor), &replayed)
		if err := tx.Commit(ctx); err != nil {
			return nil, err
		}
		total += replayed
	}
	return &plazav1.ReplayWebhookDeliveriesResponse{Replayed: int32(total)}, nil // at most 3,000
}

// deliveryID returns the id of a delivery: its home and its number there.
func deliveryID(d located) string { return d.home.String() + "-" + strconv.FormatInt(d.Seq, 10) }

// parseDeliveryID parses the id of a delivery.
func parseDeliveryID(id string) (region.Code, int64, error) {
	home, number, _ := strings.Cut(id, "-")
	code, err := region.Parse(home)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not the id of a delivery, like us-4711", id)
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("%q is not the id of a delivery, like us-4711", id)
	}
	return code, seq, nil
}

func deliveryToProto(d located) *plazav1.WebhookDelivery {
	return &plazav1.WebhookDelivery{
		DeliveryId: deliveryID(d), EventId: d.ID, Event: d.Name, ObjectId: d.ObjectID, State: d.State, Attempts: narrow.To[int32](d.Attempts),
		At: timestamppb.New(d.At), SentAt: timestamppb.New(d.SentAt), Status: narrow.To[int32](d.Status), Error: d.Error,
		DurationMilliseconds: narrow.To[int32](d.TookMS),
	}
}

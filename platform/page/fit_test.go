package page_test

import (
	"context"
	"errors"
	"testing"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/plaza-social/plaza/platform/budget"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
	"github.com/plaza-social/plaza/proto/gen/plaza/v1/plazav1connect"
)

// TestShorterPages lists rows of some size and checks with which page sizes the operation was called.
func TestShorterPages(t *testing.T) {
	services := plazav1.File_plaza_v1_post_proto.Services()
	bind, err := page.Bind(func(context.Context) string { return "" }, []protoreflect.ServiceDescriptor{services.ByName("PostService")})
	require.NoError(t, err)
	const mib = 1 << 20
	list := func(request *plazav1.ListPostsRequest, rowBytes int) (limits []int, next string) {
		operation := bind.WrapUnary(func(ctx context.Context, call connect.AnyRequest) (connect.AnyResponse, error) {
			received, _ := call.Any().(*plazav1.ListPostsRequest)
			cursor, err := page.Parse(received.GetOptions(), page.DefaultLimit)
			require.NoError(t, err)
			limits = append(limits, cursor.Limit)
			for range cursor.Limit {
				if rows := budget.RowsOf(ctx); rows != nil && rows.Take(rowBytes) != nil {
					return nil, budget.ErrExceeded
				}
			}
			cursor.ID = "0123456789abcdef01234567"
			return connect.NewResponse(&plazav1.ListPostsResponse{Paging: &plazav1.Paging{Next: cursor.Token()}}), nil
		})
		response, err := operation(t.Context(), listPostsCall{connect.NewRequest(proto.CloneOf(request))})
		require.NoError(t, err)
		message, _ := response.Any().(*plazav1.ListPostsResponse)
		return limits, message.GetPaging().GetNext()
	}
	limited := func(limit int32) *plazav1.ListPostsRequest {
		return &plazav1.ListPostsRequest{TargetId: "t", Options: &plazav1.PageOptions{Limit: &limit}}
	}
	for name, tc := range map[string]struct {
		request  *plazav1.ListPostsRequest
		rowBytes int
		limits   []int
	}{
		"small rows":             {limited(100), 1000, []int{100}},
		"as large as the budget": {limited(2), mib, []int{2}},
		"a little larger":        {limited(2), mib + 1, []int{2, 1}},
		"a quarter fits":         {limited(100), 80_000, []int{100, 13}},
		"one does not fit":       {limited(100), 3 * mib, []int{100, 1}},
		"one row":                {limited(1), 3 * mib, []int{1, 1}},
		"without a limit":        {&plazav1.ListPostsRequest{TargetId: "t"}, mib, []int{10, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			limits, next := list(tc.request, tc.rowBytes)
			require.Equal(t, tc.limits, limits)
			following := &plazav1.ListPostsRequest{TargetId: "t", Options: &plazav1.PageOptions{Token: next}}
			limits, _ = list(following, tc.rowBytes)
			require.Equal(t, tc.limits, limits, "the token has the page size that the client chose")
		})
	}
	operation := bind.WrapUnary(func(context.Context, connect.AnyRequest) (connect.AnyResponse, error) { return nil, errOther })
	_, err = operation(t.Context(), listPostsCall{connect.NewRequest(limited(3))})
	require.ErrorIs(t, err, errOther)
}

// TestLargeReads has operations that are no lists read rows of the maximum size together, and one byte more.
func TestLargeReads(t *testing.T) {
	t.Parallel()
	services := plazav1.File_plaza_v1_post_proto.Services()
	bind, err := page.Bind(func(context.Context) string { return "" }, []protoreflect.ServiceDescriptor{services.ByName("PostService")})
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		procedure string
		bytes     int
		refused   bool
	}{
		"an object":           {plazav1connect.PostServiceGetPostProcedure, page.MaxReadBytes, false},
		"a larger object":     {plazav1connect.PostServiceGetPostProcedure, page.MaxReadBytes + 1, true},
		"several objects":     {plazav1connect.PostServiceBatchGetPostsProcedure, page.MaxReadBytes, false},
		"too many objects":    {plazav1connect.PostServiceBatchGetPostsProcedure, page.MaxReadBytes + 1, true},
		"a change of objects": {plazav1connect.PostServiceUpdatePostProcedure, page.MaxReadBytes + 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operation := bind.WrapUnary(func(ctx context.Context, _ connect.AnyRequest) (connect.AnyResponse, error) {
				if rows := budget.RowsOf(ctx); rows != nil && rows.Take(tc.bytes) != nil {
					return nil, budget.ErrExceeded
				}
				return connect.NewResponse(&plazav1.PostResponse{}), nil
			})
			_, err := operation(t.Context(), calledAs{connect.NewRequest(&plazav1.BatchGetPostsRequest{}), tc.procedure})
			if !tc.refused {
				require.NoError(t, err)
				return
			}
			failed, ok := errors.AsType[*fail.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, []string{"the objects are larger than 8 MiB together: ask for fewer at a time"}, failed.Details)
		})
	}
}

// calledAs is a request of some operation, as a handler receives it.
type calledAs struct {
	connect.AnyRequest

	procedure string
}

// Spec implements connect.AnyRequest.
func (c calledAs) Spec() connect.Spec { return connect.Spec{Procedure: c.procedure} }

var errOther = errors.New("another error")

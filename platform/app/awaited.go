package app

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// awaitedRequests counts requests for erasures, see awaited.
func awaitedRequests(routes *db.Routes) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			defer routes.BeginRequest()()
			return next(ctx, request)
		}
	}
}

// allAwaited is awaited for several jobs.
func allAwaited(routes *db.Routes, all []jobs.Job) []jobs.Job {
	for i, job := range all {
		all[i] = awaited(routes, job)
	}
	return all
}

// awaited returns a job that erasures wait for as for requests: what it has read of a user may be written after the user was erased.
func awaited(routes *db.Routes, job jobs.Job) jobs.Job {
	if drain := job.Drain; drain != nil {
		job.Drain = func(ctx context.Context, home region.Code, lane int64) (bool, error) {
			defer routes.BeginRequest()()
			return drain(ctx, home, lane)
		}
	}
	if poll := job.Poll; poll != nil {
		job.Poll = func(ctx context.Context, home region.Code, lanes []int64) (map[int64]jobs.Work, error) {
			defer routes.BeginRequest()()
			work, err := poll(ctx, home, lanes)
			for lane, do := range work { // it is called once
				end := routes.BeginRequest()
				work[lane] = func(ctx context.Context) (bool, error) {
					defer end()
					return do(ctx)
				}
			}
			return work, err
		}
	}
	return job
}

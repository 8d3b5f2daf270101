package app

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/storage"
)

// background are the background jobs by what they concern.
type background struct {
	server []jobs.Job // the state of this server
	home   []jobs.Job // rows of a home
	files  []jobs.Job // rows of a home and its files
}

// of returns the jobs of a server of a region.
func (b background) of(home region.Code, files *storage.Storage) []jobs.Job {
	return append(slices.Clone(b.server), b.ofHome(home, files)...)
}

// ofHome returns the jobs on the rows of a home: those on files only if its storage is configured.
func (b background) ofHome(home region.Code, files *storage.Storage) []jobs.Job {
	all := slices.Clone(b.home)
	if files.Has(home) {
		all = append(all, b.files...)
	}
	return all
}

// evacuationInterval is how often the file of evacuated regions is looked at.
const evacuationInterval = time.Second

// evacuatedHomes runs the background jobs of evacuated regions. Servers of the region itself may still run: a job's work on a row
// succeeds for one server only.
type evacuatedHomes struct {
	regions func() []region.Code
	jobs    func(home region.Code) []jobs.Job
	log     *slog.Logger
}

// run starts and stops the jobs as regions are evacuated and return, until ctx ends.
func (e *evacuatedHomes) run(ctx context.Context) error {
	running := map[region.Code]func(){}
	defer func() {
		for _, stop := range running {
			stop()
		}
	}()
	return every(ctx, evacuationInterval, func(ctx context.Context) { e.update(ctx, running) })
}

// update starts the jobs of regions that are not running, and stops those of regions that are not evacuated any more.
func (e *evacuatedHomes) update(ctx context.Context, running map[region.Code]func()) {
	evacuated := e.regions()
	for _, home := range evacuated {
		if running[home] == nil {
			e.log.InfoContext(ctx, "region is evacuated to this one: its background work starts", "home", home)
			running[home] = e.start(ctx, home)
		}
	}
	for home, stop := range running {
		if !slices.Contains(evacuated, home) {
			stop()
			delete(running, home)
			e.log.InfoContext(ctx, "region is not evacuated any more: its background work has ended", "home", home)
		}
	}
}

// start runs the jobs of a home until the returned function is called, which waits for them.
func (e *evacuatedHomes) start(ctx context.Context, home region.Code) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, job := range e.jobs(home) {
		all.Go(func() { job.Run(ctx, home) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

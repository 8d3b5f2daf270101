package app

import (
	"context"
	"fmt"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/store/db"
)

// databaseChecks returns the check of the database and an advisory check of each home. The server is ready if it reaches
// any home, its own region's or not: it then serves the rows of that home, and responds with 503 for those of the others.
func (d *dependencies) databaseChecks() []Check {
	checks := []Check{{Name: statusz.CheckDatabase, Run: func(ctx context.Context) error {
		return d.anyHome(ctx, d.store.Ping)
	}}}
	for _, home := range region.All() {
		checks = append(checks, Check{
			Name:     statusz.CheckDatabase + " " + home.String(),
			Advisory: true,
			Run:      func(ctx context.Context) error { return d.store.Ping(ctx, home) },
		})
	}
	return checks
}

// anyHome runs a check of all homes concurrently and returns nil as soon as one passes, otherwise the error of the server's
// own home.
func (d *dependencies) anyHome(ctx context.Context, check func(context.Context, region.Code) error) error {
	type result struct {
		home region.Code
		err  error
	}
	homes := region.All()
	results := make(chan result, len(homes))
	for _, home := range homes {
		go func() { results <- result{home, check(ctx, home)} }()
	}
	var own error
	for range homes {
		r := <-results
		if r.err == nil {
			return nil
		}
		if r.home == d.cfg.Region {
			own = r.err
		}
	}
	return own
}

// checkSchema returns an error if the schema is older than the program requires, or the database belongs to another
// network. A newer schema is accepted: migrations
// only remove what no running program uses any more. All homes have the same schema, so that any that responds will do.
func (d *dependencies) checkSchema(ctx context.Context) error {
	urls := d.cfg.DatabaseURLs()
	identity := db.NetworkIdentity(string(d.cfg.NetworkID), d.cfg.DirectoryKey.Reveal())
	return d.anyHome(ctx, func(ctx context.Context, home region.Code) error {
		current, err := db.SchemaVersion(ctx, urls[home], home)
		if err != nil {
			return err
		}
		if target := db.TargetVersion(); current < target {
			return fmt.Errorf("schema version is %d, required is %d: run plaza migrate up", current, target)
		}
		return db.CheckIdentity(ctx, urls[home], home, identity)
	})
}

package app

import (
	"context"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
)

// databaseChecks returns the checks of a run: of the schema, of the database, and an advisory check of each home. They share
// one statement to each home. The server is ready if it reaches any home, its own region's or not: it then serves the rows
// of that home, and responds with 503 for those of the others.
func (d *dependencies) databaseChecks(ctx context.Context, g *gate) []Check {
	asked := d.homes.ask(ctx)
	checks := []Check{
		{Name: "schema", Run: func(ctx context.Context) error {
			return g.check(ctx, func(ctx context.Context) error { return d.checkSchema(ctx, asked) })
		}},
		{Name: statusz.CheckDatabase, Run: func(ctx context.Context) error { return d.anyHome(ctx, asked.respond) }},
	}
	for _, home := range region.All() {
		checks = append(checks, Check{
			Name:     statusz.CheckDatabase + " " + home.String(),
			Advisory: true,
			Run:      func(ctx context.Context) error { return asked.respond(ctx, home) },
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
// network. All homes have the same schema, so that any that responds will do.
//
// Nothing is remembered: the version and the identity come with the statement that shows that the home responds. A server
// that started before a migration becomes ready after it, and a server whose database was replaced by an older one or by
// that of another network is not ready any more.
func (d *dependencies) checkSchema(ctx context.Context, asked homesAsked) error {
	return d.anyHome(ctx, func(ctx context.Context, home region.Code) error {
		status, err := asked.status(ctx, home)
		if err != nil {
			return err
		}
		return status.Check(d.homes.identity)
	})
}

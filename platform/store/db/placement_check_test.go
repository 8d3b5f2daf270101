package db_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// answers stand for a CockroachDB: the rows of each question, found by a part of its text.
type answers map[string][][]string

func (a answers) Connect(context.Context) (driver.Conn, error) { return answering{a}, nil }
func (a answers) Driver() driver.Driver                        { return nil }

type answering struct{ answers answers }

var errNotAsked = errors.New("only questions are asked")

func (answering) Prepare(string) (driver.Stmt, error) { return nil, errNotAsked }
func (answering) Begin() (driver.Tx, error)           { return nil, errNotAsked }
func (answering) Close() error                        { return nil }

func (c answering) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	for part, rows := range c.answers {
		if strings.Contains(query, part) {
			return &answerRows{rows: rows}, nil
		}
	}
	return nil, fmt.Errorf("no answer to %s", query)
}

type answerRows struct{ rows [][]string }

func (*answerRows) Columns() []string { return []string{"a", "b"} }
func (*answerRows) Close() error      { return nil }

func (r *answerRows) Next(into []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	for i, text := range r.rows[0] {
		into[i] = text
		if text == "NULL" {
			into[i] = nil
		}
	}
	r.rows = r.rows[1:]
	return nil
}

const columnText = "CASE WHEN home = 'us':::STRING THEN 'us-east1':::public.crdb_internal_region WHEN home = 'eu':::STRING" +
	" THEN 'europe-west1':::public.crdb_internal_region WHEN home = 'sg':::STRING THEN 'asia-southeast1':::public.crdb_internal_region END"

// pinnedAnswers are those of a database that is as asked.
func pinnedAnswers() answers {
	a := answers{
		"SHOW REGIONS":       {{"us-east1", "true"}, {"europe-west1", "false"}, {"asia-southeast1", "false"}},
		"SHOW SURVIVAL GOAL": {{"zone", ""}},
		"SHOW TABLES":        {{"goose_db_version", "REGIONAL BY TABLE IN PRIMARY REGION"}},
		"information_schema": nil,
		"pg_enum":            {{"us-east1", "2"}, {"europe-west1", "1"}, {"asia-southeast1", "0"}},
	}
	for _, table := range db.Tables() {
		a["SHOW TABLES"] = append(a["SHOW TABLES"], []string{table, "REGIONAL BY ROW AS region"})
		a["information_schema"] = append(a["information_schema"], []string{table, columnText})
		a[fmt.Sprintf("SHOW RANGES FROM TABLE %q", table)] = rangesOf(threeOf("europe-west1"))
	}
	return a
}

// threeOf is the locality of three replicas in a region.
func threeOf(name string) string {
	return "region=" + name + ",zone=a;region=" + name + ",zone=b;region=" + name + ",zone=c"
}

// rangesOf are the ranges of a table as a cluster printed them (see TestRegionKey), whose rows of eu have replicas at
// these localities.
func rangesOf(eu string) [][]string {
	anywhere := "region=us-east1,zone=a;region=europe-west1,zone=a;region=asia-southeast1,zone=a"
	return [][]string{
		{"NULL", anywhere},
		{`/" "`, threeOf("asia-southeast1")},
		{`/" "/PrefixEnd`, anywhere},
		{`/"@"`, eu},
		{`/"@"/PrefixEnd`, anywhere},
		{`/"\x80"`, threeOf("us-east1")},
		{`/"\x80"/PrefixEnd`, anywhere},
	}
}

func TestElsewhere(t *testing.T) {
	row := func(question, first, second string) func(answers) {
		return func(a answers) {
			i := slices.IndexFunc(a[question], func(r []string) bool { return r[0] == first })
			a[question][i] = []string{first, second}
		}
	}
	for name, c := range map[string]struct {
		spoil   func(answers)
		survive string
		want    []db.TablePlacement
	}{
		"all pinned": {want: nil},
		"global table": {
			row("SHOW TABLES", "posts", "GLOBAL"), "zone",
			[]db.TablePlacement{{Table: "posts", Has: "GLOBAL"}},
		},
		"no locality": {
			row("SHOW TABLES", "users", ""), "zone",
			[]db.TablePlacement{{Table: "users", Has: "no locality"}},
		},
		"quoted column": {row("SHOW TABLES", "posts", `REGIONAL BY ROW AS "region"`), "zone", nil},
		"table missing": {
			func(a answers) { a["SHOW TABLES"] = a["SHOW TABLES"][:len(a["SHOW TABLES"])-1] }, "zone",
			[]db.TablePlacement{{Table: db.Tables()[len(db.Tables())-1], Has: "no such table"}},
		},
		"pinned by another configuration": {
			row("information_schema", "posts", strings.ReplaceAll(columnText, "europe-west1", "europe-west4")), "zone",
			[]db.TablePlacement{{Table: "posts", Has: `rows of eu are stored in "europe-west4" instead of "europe-west1"`}},
		},
		"voters at home, others abroad": {func(a answers) {
			a[`SHOW RANGES FROM TABLE "posts"`] = rangesOf(threeOf("europe-west1") + ";region=us-east1,zone=a;region=asia-southeast1,zone=a")
		}, "zone", []db.TablePlacement{{Table: "posts", Has: "1 ranges with replicas outside of their region"}}},
		"a region with a name like another": {func(a answers) {
			a[`SHOW RANGES FROM TABLE "posts"`] = rangesOf(threeOf("europe-west10"))
		}, "zone", []db.TablePlacement{{Table: "posts", Has: "1 ranges with replicas outside of their region"}}},
		"a region that is away": {func(a answers) { a[`SHOW RANGES FROM TABLE "posts"`] = rangesOf("NULL") }, "zone", nil},
		"nodes that are not known": {
			func(a answers) { a[`SHOW RANGES FROM TABLE "posts"`] = rangesOf(";;region=europe-west1,zone=a") }, "zone",
			nil,
		},
		"ranges that are not split": {func(a answers) {
			a[`SHOW RANGES FROM TABLE "posts"`] = [][]string{{"NULL", threeOf("us-east1")}}
		}, "zone", []db.TablePlacement{{Table: "posts", Has: "1 ranges with replicas outside of their region"}}},
		"replicas everywhere, to survive the loss of a region": {func(a answers) {
			a[`SHOW RANGES FROM TABLE "posts"`] = rangesOf(threeOf("us-east1"))
			a["SHOW SURVIVAL GOAL"] = [][]string{{"region", ""}}
		}, "region", nil},
		"region missing": {
			func(a answers) { a["SHOW REGIONS"] = a["SHOW REGIONS"][:2] }, "zone",
			[]db.TablePlacement{{Has: "the database has no region asia-southeast1 (for sg)"}},
		},
		"other primary": {func(a answers) {
			a["SHOW REGIONS"] = [][]string{{"us-east1", "false"}, {"europe-west1", "true"}, {"asia-southeast1", "false"}}
		}, "zone", []db.TablePlacement{{Has: "the primary region is not us-east1 (for us)"}}},
		"other goal": {
			func(answers) {}, "region",
			[]db.TablePlacement{{Has: "the survival goal is zone instead of region"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := pinnedAnswers()
			if c.spoil != nil {
				c.spoil(a)
			}
			conn := sql.OpenDB(a)
			defer conn.Close()
			found, err := db.Misplaced(t.Context(), conn, db.DefaultLocalities(), c.survive)
			require.NoError(t, err)
			require.Equal(t, c.want, found)
		})
	}
}

func TestElsewhereIsNotGuessed(t *testing.T) {
	for _, question := range slices.Sorted(maps.Keys(pinnedAnswers())) {
		a := pinnedAnswers()
		delete(a, question)
		conn := sql.OpenDB(a)
		_, err := db.Misplaced(t.Context(), conn, db.DefaultLocalities(), "zone")
		require.Error(t, err, question)
		require.NoError(t, conn.Close())
	}
}

func TestIsRegional(t *testing.T) {
	for name, c := range map[string]struct {
		engine  db.Engine
		regions [][]string
		want    bool
	}{
		"PostgreSQL":         {db.PostgreSQL, nil, false},
		"a node on a laptop": {db.CockroachDB, nil, false},
		"three regions":      {db.CockroachDB, [][]string{{"us-east1", ""}, {"europe-west1", ""}, {"asia-southeast1", ""}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			conn := sql.OpenDB(answers{"SHOW REGIONS FROM CLUSTER": c.regions})
			defer conn.Close()
			got, err := db.IsRegional(t.Context(), conn, c.engine)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	conn := sql.OpenDB(answers{})
	defer conn.Close()
	_, err := db.IsRegional(t.Context(), conn, db.CockroachDB)
	require.ErrorContains(t, err, "read the regions of the cluster")
}

// TestHomeRegion reads what versions of the database print, and what the migrations say.
func TestHomeRegion(t *testing.T) {
	for _, text := range []string{
		columnText,
		"CASE WHEN home = 'us' THEN 'us-east1' WHEN home = 'eu' THEN 'europe-west1' WHEN home = 'sg' THEN 'asia-southeast1' END",
		"CASE WHEN (home = 'us':::STRING) THEN ('us-east1') WHEN (home = 'eu':::STRING) THEN ('europe-west1') WHEN (home = 'sg') THEN " +
			"'asia-southeast1' ELSE NULL END",
	} {
		for code, want := range db.DefaultLocalities() {
			require.Equal(t, want, db.HomeRegion(text, code), text)
		}
	}
	require.Empty(t, db.HomeRegion("'europe-west1'", region.EU))
}

func TestCheckPlacement(t *testing.T) {
	p, err := db.CheckPlacement(t.Context(), dbtest.New(t), db.Layout{Localities: db.DefaultLocalities()})
	require.Len(t, db.Tables(), p.Tables)
	if testdb.Cockroach(t) {
		require.Equal(t, db.CockroachDB, p.Engine)
		if errors.Is(err, db.ErrNotRegional) {
			return
		}
		require.NoError(t, err)
		require.Empty(t, p.Misplaced)
		return
	}
	require.ErrorIs(t, err, db.ErrNoPlacement)
	require.Equal(t, db.PostgreSQL, p.Engine)
	_, err = db.CheckPlacement(t.Context(), "postgresql://plaza:hunter2@127.0.0.1:1/plaza", db.Layout{Localities: db.DefaultLocalities()})
	require.Error(t, err)
	require.NotErrorIs(t, err, db.ErrNoPlacement)
	require.NotContains(t, err.Error(), "hunter2")
}

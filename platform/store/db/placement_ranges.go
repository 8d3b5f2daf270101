package db

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// tableRange is a range of a table or of one of its indexes.
type tableRange struct {
	start    string   // the first key, as SHOW RANGES prints it
	replicas []string // the localities of the nodes with a replica; empty for a node that is not known
}

// sqlRegionOrder reads the regions in the order of the bytes by which keys identify them.
const sqlRegionOrder = `SELECT e.enumlabel, e.enumsortorder::STRING FROM pg_catalog.pg_enum AS e
	JOIN pg_catalog.pg_type AS t ON t.oid = e.enumtypid WHERE t.typname = 'crdb_internal_region'`

func rangesStatement(table string) string {
	return fmt.Sprintf("SELECT start_key, array_to_string(replica_localities, ';', '') FROM [SHOW RANGES FROM TABLE %s WITH DETAILS]",
		quoteIdent(table))
}

// misplacedRanges returns the number of ranges of all tables that have a replica outside of the region of their rows.
func misplacedRanges(ctx context.Context, db querier, l Layout) (int, error) {
	if l.Survive == surviveRegion {
		return 0, nil
	}
	regions, err := regionOrder(ctx, db)
	if err != nil {
		return 0, err
	}
	wrong := 0
	for _, table := range Tables() {
		n, err := misplacedRangesOf(ctx, db, table, regions)
		if err != nil {
			return 0, err
		}
		wrong += n
	}
	return wrong, nil
}

// regionOrder returns the names of the regions in the order of sqlRegionOrder.
func regionOrder(ctx context.Context, db querier) ([]string, error) {
	places, err := pairs(ctx, db, sqlRegionOrder)
	if err != nil {
		return nil, fmt.Errorf("read the order of the regions: %w", err)
	}
	order := map[string]float64{}
	for name, text := range places {
		if order[name], err = strconv.ParseFloat(text, 64); err != nil {
			return nil, fmt.Errorf("read the order of the regions: %w", err)
		}
	}
	return slices.SortedFunc(maps.Keys(order), func(a, b string) int { return cmp.Compare(order[a], order[b]) }), nil
}

func misplacedRangesOf(ctx context.Context, db querier, table string, regions []string) (int, error) {
	ranges, err := readRanges(ctx, db, table)
	if err != nil {
		return 0, fmt.Errorf("read the ranges of %s: %w", table, err)
	}
	return countMisplaced(ranges, regions), nil
}

// readRanges reads the ranges of a table. The key of the first one and the localities of nodes that are away can be NULL.
func readRanges(ctx context.Context, db querier, table string) ([]tableRange, error) {
	rows, err := queryAll(ctx, db, twoTexts, rangesStatement(table))
	all := make([]tableRange, len(rows))
	for i, row := range rows {
		all[i] = tableRange{start: row[0].String, replicas: strings.Split(row[1].String, ";")}
	}
	return all, err
}

// countMisplaced returns the number of ranges that have a replica outside of the region of their rows, regions being all
// regions in the order of their bytes. Until the ranges are split by region, every range counts.
func countMisplaced(ranges []tableRange, regions []string) int {
	found := map[string]bool{}
	for _, r := range ranges {
		if key, ok := regionKey(r.start); ok {
			found[key] = true
		}
	}
	if len(found) != len(regions) {
		return len(ranges)
	}
	names := map[string]string{}
	for i, key := range slices.Sorted(maps.Keys(found)) {
		names[key] = regions[i]
	}
	wrong := 0
	for _, r := range ranges {
		if key, ok := regionKey(r.start); ok && slices.ContainsFunc(r.replicas, outside(names[key])) {
			wrong++
		}
	}
	return wrong
}

// firstText matches the first text of a key: /"@", /"@"/PrefixEnd or …/1/"@"/"eu".
var firstText = regexp.MustCompile(`("(?:[^"\\]|\\.)*")(/PrefixEnd)?`)

// regionKey returns the bytes that stand for the region of a range in its first key. The ranges between regions, which
// begin at the end of one, have no rows.
func regionKey(start string) (string, bool) {
	match := firstText.FindStringSubmatch(start)
	if len(match) == 0 || match[2] != "" {
		return "", false
	}
	key, err := strconv.Unquote(match[1])
	return key, err == nil
}

// outside returns a function that reports whether a locality, such as region=europe-west1,zone=b, is in another region.
// An unknown one is not: the replica has not moved.
func outside(name string) func(locality string) bool {
	return func(locality string) bool {
		return locality != "" && !slices.Contains(strings.Split(locality, ","), "region="+name)
	}
}

// rangePlacement describes how many of a table's ranges have replicas outside of their region, or returns "".
func rangePlacement(ctx context.Context, db querier, table string, regions []string) (string, error) {
	n, err := misplacedRangesOf(ctx, db, table, regions)
	if err != nil || n == 0 {
		return "", err
	}
	return fmt.Sprintf("%d ranges with replicas outside of their region", n), nil
}

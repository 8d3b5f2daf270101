package db

import (
	"context"
	"database/sql"
)

// querier is the part of sql.DB that reads rows.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// queryAll returns the rows of a query. fields returns the addresses of the columns of a row.
func queryAll[T any](ctx context.Context, db querier, fields func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var row T
		if err := rows.Scan(fields(&row)...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// oneText is the column of rows with a single text.
func oneText(row *string) []any { return []any{row} }

// twoTexts are the columns of rows with two texts, each of which can be NULL.
func twoTexts(row *[2]sql.NullString) []any { return []any{&row[0], &row[1]} }

// pairs reads two text columns into a map from the first to the second.
func pairs(ctx context.Context, db querier, query string) (map[string]string, error) {
	rows, err := queryAll(ctx, db, twoTexts, query)
	found := make(map[string]string, len(rows))
	for _, row := range rows {
		found[row[0].String] = row[1].String
	}
	return found, err
}

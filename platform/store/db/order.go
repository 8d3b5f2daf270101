package db

// Order is the order of a keyset-paginated list: by one column and the id, ascending or descending. Name is part of the
// names of the list's statements.
type Order struct {
	Name string
	Desc bool
}

// After returns the keyset condition: the rows after the position (key, id).
func (o Order) After(column, idColumn, key, id string) string {
	op := ">"
	if o.Desc {
		op = "<"
	}
	return "(" + column + ", " + idColumn + ") " + op + " (" + key + ", " + id + ")"
}

// By returns the list of the ORDER BY clause.
func (o Order) By(column, idColumn string) string {
	if o.Desc {
		return column + " DESC, " + idColumn + " DESC"
	}
	return column + ", " + idColumn
}

package store

import "github.com/plaza-social/plaza/platform/region"

// listOrder is a direction of a keyset list: by a column and the id, up or down.
type listOrder struct {
	name string
	desc bool
}

var (
	orderCreatedDesc = listOrder{"CreatedDesc", true}
	orderCreatedAsc  = listOrder{"CreatedAsc", false}
	orderUpdatedDesc = listOrder{"UpdatedDesc", true}
	orderUpdatedAsc  = listOrder{"UpdatedAsc", false}
	orderNameDesc    = listOrder{"NameDesc", true}
	orderNameAsc     = listOrder{"NameAsc", false}
)

// after is the keyset condition: rows past the position (key, id).
func (o listOrder) after(column, idColumn, key, id string) string {
	op := ">"
	if o.desc {
		op = "<"
	}
	return "(" + column + ", " + idColumn + ") " + op + " (" + key + ", " + id + ")"
}

// by is the matching ORDER BY list.
func (o listOrder) by(column, idColumn string) string {
	if o.desc {
		return column + " DESC, " + idColumn + " DESC"
	}
	return column + ", " + idColumn
}

// byHome groups ids by the home they carry; what is no id is left out, because it has no row anywhere.
func byHome(ids []string) map[region.Code][]string {
	groups := map[region.Code][]string{}
	for _, id := range ids {
		if home, err := region.HomeOf(id); err == nil {
			groups[home] = append(groups[home], id)
		}
	}
	return groups
}

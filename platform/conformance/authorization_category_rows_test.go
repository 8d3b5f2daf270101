package conformance

import "testing"

func categoryRows() []row {
	category := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"categoryId": newCategory(t, g.walkers[adminToken], "category")}
	}
	named := func(*testing.T, *grounds) object { return object{"name": "category"} }
	return []row{
		{procedure: "CategoryService/CreateCategory", request: named, want: adminsOnly},
		{procedure: "CategoryService/UpdateCategory", request: category, want: adminsOnly},
		{procedure: "CategoryService/DeleteCategory", request: category, want: adminsOnly},
		{procedure: "CategoryService/GetCategory", request: category, want: everybody},
		{procedure: "CategoryService/BatchGetCategories", request: category, want: everybody},
		{procedure: "CategoryService/ListCategories", request: nothing, want: everybody},
	}
}

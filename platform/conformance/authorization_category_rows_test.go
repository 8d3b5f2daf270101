package conformance

import "testing"

func categoryRows() []row {
	category := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"categoryId": newCategory(t, g.principals[adminToken], "category")}
	}
	named := func(*testing.T, *fixture) object { return object{"name": "category"} }
	return []row{
		{procedure: "CategoryService/CreateCategory", request: named, want: adminsOnly},
		{procedure: "CategoryService/UpdateCategory", request: category, want: adminsOnly},
		{procedure: "CategoryService/DeleteCategory", request: category, want: adminsOnly},
		{procedure: "CategoryService/GetCategory", request: category, want: everyone},
		{procedure: "CategoryService/BatchGetCategories", request: category, want: everyone},
		{procedure: "CategoryService/ListCategories", request: noFields, want: everyone},
	}
}

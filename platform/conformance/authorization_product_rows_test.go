package conformance

import "testing"

func productRows() []row {
	fresh := func(*testing.T, *fixture) object { return newProduct("Rope") }
	product := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"productId": addProduct(t, g.principals[adminToken], newProduct("Rope"))}
	}
	return []row{
		{procedure: "ProductService/CreateProduct", request: fresh, want: adminsOnly},
		{procedure: "ProductService/GetProduct", request: product, want: everyone},
		{procedure: "ProductService/SearchProducts", request: noFields, want: everyone},
		{procedure: "ProductService/UpdateProduct", request: product, want: adminsOnly},
		{procedure: "ProductService/DeleteProduct", request: product, want: adminsOnly},
	}
}

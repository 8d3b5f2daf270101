package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const productsPath = "/api/v1/products"

// newProduct returns the fields of a new product.
func newProduct(name string, fields ...object) object {
	return with(object{"productName": name, "productUrl": "https://shop.example/rope"}, fields...)
}

// addProduct adds a product and returns its id.
func addProduct(t *testing.T, by *apptest.Client, product object) string {
	t.Helper()
	nextMillisecond()
	return by.Do(t, http.MethodPost, productsPath, product).OK(t).String(t, "products.0.productId")
}

// TestProduct adds, changes and deletes a product, which users of every region read.
func TestProduct(t *testing.T) {
	t.Parallel()
	alice, boss := newUser(t, region.US, "alice"), admin(t).At(region.EU)
	fields := object{
		"price": 90.5, "currency": "EUR", "thumbnailUrl": "https://shop.example/rope.png", "thumbnailMode": "fill",
		"status": "archived",
	}
	id := addProduct(t, boss, newProduct("Rope", fields))
	get := func(at region.Code) object {
		list := alice.At(at).Do(t, http.MethodGet, productsPath+"/"+id, nil).OK(t).List(t, "products")
		require.Len(t, list, 1)
		return list[0].(object)
	}
	for _, at := range region.All() {
		require.Subset(t, get(at), with(newProduct("Rope", fields), object{
			"_id": id, "productId": id, "isDeleted": false, "importSource": "manual", "createdBy": "", "updatedBy": "",
		}))
	}
	path := productsPath + "/" + id
	r := boss.Do(t, http.MethodPut, path, object{"productName": "Longer rope", "price": 100, "status": "active"}).OK(t)
	require.Equal(t, "Longer rope", r.String(t, "products.0.productName"))
	require.Subset(t, get(region.SG), with(newProduct("Longer rope", fields), object{"price": 100.0, "status": "active"}),
		"absent fields stay")

	r = boss.Do(t, http.MethodPut, path, object{"currency": "USD"}).OK(t)
	require.Equal(t, "USD", r.String(t, "products.0.currency"), "it has a price already")
	plain := get(region.EU)
	require.Contains(t, plain, "price")
	other := addProduct(t, boss, newProduct("Carabiner"))
	r = alice.Do(t, http.MethodGet, productsPath+"/"+other, nil).OK(t)
	require.Subset(t, r.List(t, "products")[0], object{"status": "active", "currency": "", "thumbnailUrl": "", "thumbnailMode": "fit"})
	require.NotContains(t, r.List(t, "products")[0], "price")

	create := func(name string, product object, want failure) attempt {
		return attempt{name, boss, http.MethodPost, productsPath, product, want}
	}
	requireAttempts(t, []attempt{
		{"add as a user", alice, http.MethodPost, productsPath, newProduct("Rope"), notAllowed},
		{"change as a user", alice, http.MethodPut, path, object{}, notAllowed},
		{"delete as a user", alice, http.MethodDelete, path, nil, notAllowed},
		{"read anonymously", apptest.Shared(t).Anonymous(region.EU), http.MethodGet, path, nil, unauthorized},
		{"search anonymously", apptest.Shared(t).Anonymous(region.EU), http.MethodGet, productsPath + "/search", nil, unauthorized},
		{"unknown", alice, http.MethodGet, productsPath + "/" + region.NewID(region.EU), nil, notFound},
		{"change an unknown one", boss, http.MethodPut, productsPath + "/" + region.NewID(region.EU), object{}, notFound},
		{"delete an unknown one", boss, http.MethodDelete, productsPath + "/" + region.NewID(region.EU), nil, notFound},
		create("no name", newProduct(""), invalid("productName")),
		create("name of 201", newProduct(strings.Repeat("a", 201)), invalid("productName")),
		create("no address", newProduct("Rope", object{"productUrl": ""}), invalid("productUrl")),
		create("no web address", newProduct("Rope", object{"productUrl": "javascript:alert(1)"}), invalid("productUrl")),
		create("price without a currency", newProduct("Rope", object{"price": 1}), invalid("currency")),
		create("currency without a price", newProduct("Rope", object{"currency": "EUR"}), invalid("price")),
		create("negative price", newProduct("Rope", object{"price": -1, "currency": "EUR"}), invalid("price")),
		create("another status", newProduct("Rope", object{"status": "new"}), invalid("status")),
		{"price without a currency", boss, http.MethodPut, productsPath + "/" + other, object{"price": 1}, invalid("currency")},
		{"currency without a price", boss, http.MethodPut, productsPath + "/" + other, object{"currency": "EUR"}, invalid("price")},
	})

	boss.Do(t, http.MethodDelete, path, nil).OK(t)
	require.Equal(t, true, get(region.US)["isDeleted"])
	requireAttempts(t, []attempt{
		{"change a deleted one", boss, http.MethodPut, path, object{}, notFound},
		{"delete it again", boss, http.MethodDelete, path, nil, notFound},
	})
}

// TestSearchProducts finds products of all regions by the beginning of the name, by state and by deletion, in every order.
func TestSearchProducts(t *testing.T) {
	t.Parallel()
	alice, boss := newUser(t, region.US, "alice"), admin(t)
	word := newWord(t)[:9] // the order by name is that of the first 12 letters
	names := []string{word + " b", word + " a", word + " c"}
	ids := map[string]string{}
	for i, code := range region.All() {
		ids[names[i]] = addProduct(t, boss.At(code), newProduct(names[i]))
	}
	b, a, c := ids[names[0]], ids[names[1]], ids[names[2]]
	addProduct(t, boss, newProduct("The "+word))
	find := func(query ...string) *apptest.Response {
		values := url.Values{"keyword": {strings.ToUpper(word)}}
		for i := 0; i < len(query); i += 2 {
			values.Set(query[i], query[i+1])
		}
		return alice.Do(t, http.MethodGet, productsPath+"/search?"+values.Encode(), nil).OK(t)
	}
	token := func(r *apptest.Response, name string) *apptest.Response {
		return alice.Do(t, http.MethodGet, productsPath+"/search?options%5Btoken%5D="+url.QueryEscape(r.String(t, "paging."+name)), nil).OK(t)
	}
	require.Equal(t, []string{c, a, b}, find().Strings(t, "products", "productId"))
	nextMillisecond()
	boss.Do(t, http.MethodPut, productsPath+"/"+b, object{"status": "archived"}).OK(t)
	for query, want := range map[string][]string{
		"sortBy=createdAt": {c, a, b}, "sortBy=createdAt&sortOrder=asc": {b, a, c}, "sortBy=updatedAt": {b, c, a},
		"sortBy=updatedAt&sortOrder=asc": {a, c, b},
		"sortBy=productName":             {a, b, c}, "sortBy=productName&sortOrder=desc": {c, b, a}, "isActive=true": {c, a},
		"isActive=false": {b},
		"isDeleted=true": {}, "isDeleted=false": {c, a, b},
	} {
		r := alice.Do(t, http.MethodGet, productsPath+"/search?keyword="+word+"&"+query, nil).OK(t)
		require.Equal(t, want, r.Strings(t, "products", "productId"), query)
	}
	first := find("options[limit]", "2", "sortBy", "productName")
	require.Equal(t, []string{a, b}, first.Strings(t, "products", "productId"))
	next := token(first, "next")
	require.Equal(t, []string{c}, next.Strings(t, "products", "productId"))
	require.Empty(t, next.String(t, "paging.next"))
	first = find("options[limit]", "2")
	require.Equal(t, []string{c, a}, first.Strings(t, "products", "productId"))
	next = token(first, "next")
	require.Equal(t, []string{b}, next.Strings(t, "products", "productId"))
	require.Empty(t, next.String(t, "paging.next"))
	require.Equal(t, []string{c, a}, token(next, "previous").Strings(t, "products", "productId"))
	for order, want := range map[string][]string{"desc": {b, c, a}, "asc": {a, c, b}} {
		l := listing{by: alice.At(region.SG), path: productsPath + "/search", list: "products", id: "productId"}
		l.with("keyword", word).with("sortBy", "updatedAt").with("sortOrder", order).requirePages(t, 1, want)
	}
	boss.Do(t, http.MethodDelete, productsPath+"/"+a, nil).OK(t)
	require.Equal(t, []string{c, b}, find().Strings(t, "products", "productId"))
	require.Equal(t, []string{a}, find("isDeleted", "true").Strings(t, "products", "productId"))
	listed := alice.Do(t, http.MethodGet, productsPath+"?keyword="+word, nil).OK(t)
	require.Equal(t, []string{c, b}, listed.Strings(t, "products", "productId"))
	requireFailure(t, invalid("sortBy"), alice.Do(t, http.MethodGet, productsPath+"?sortBy=price", nil))
}

// TestProductsOfPosts checks that posts are answered with the products that they tag or show first, without deleted and
// unknown ones.
func TestProductsOfPosts(t *testing.T) {
	t.Parallel()
	alice, boss := newUser(t, region.US, "alice"), admin(t)
	rope, hook, gone := addProduct(t, boss.At(region.SG), newProduct("Rope")), addProduct(t, boss, newProduct("Hook")),
		addProduct(t, boss, newProduct("Gone"))
	boss.Do(t, http.MethodDelete, productsPath+"/"+gone, nil).OK(t)
	post := newPost(t, alice, newCommunity(t, alice), object{
		"productTags": []object{{"productId": rope}, {"productId": gone}, {"productId": "unknown"}},
	})
	alice.Do(t, http.MethodPut, "/api/v4/posts/"+post, object{"pinnedProductId": hook}).OK(t)
	for _, path := range []string{"/api/v3/posts/" + post, "/api/v3/posts/list?postIds=" + post} {
		r := alice.Do(t, http.MethodGet, path, nil).OK(t)
		require.Equal(t, []string{rope, hook}, r.Strings(t, "products", "productId"), path)
	}
	r := alice.Do(t, http.MethodPut, "/api/v4/posts/"+post, object{"productTags": []object{{"productId": hook}}}).OK(t)
	require.Equal(t, []string{hook}, r.Strings(t, "products", "productId"))
}

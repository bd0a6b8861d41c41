// What a browser sends with a form.
import Testing

@testable import CairnBrowser

@Suite struct FormQueryTests {
  @Test func valuesAreDecodedAsFormsEncodeThem() {
    let query = FormQuery("where=name+%3D%3D+'a%2Bb'&sort=-name&empty=&flag&page=2&page=3")
    #expect(query["where"] == "name == 'a+b'")
    #expect(query["sort"] == "-name" && query["empty"] == "" && query["flag"] == nil)
    #expect(query["page"] == "3")
    #expect(FormQuery(nil)["where"] == nil && FormQuery("a=%FF")["a"] == nil)
  }
}

"""What is done in a session only: a token that got out must not live on in others."""

from tickwell.services.access.actor import Role

PASSWORD = {"new": "a few words together"}


async def test_a_token_makes_neither_a_token_nor_a_password(house):
    session = await house.login("root")
    token = (await house.http.post("/tokens", headers=session)).json()["token"]
    bearer = {"authorization": f"Bearer {token}", "x-tickwell-project": "a"}
    assert (await house.http.get("/session", headers=bearer)).status_code == 200
    for method, path, body in (("POST", "/tokens", None), ("PUT", "/session/password", PASSWORD)):
        # Not with the session beside it either: it is not looked at.
        for headers in (bearer, session | bearer):
            answer = await house.http.request(method, path, json=body, headers=headers)
            assert answer.status_code == 422, answer.text
            assert "requires a logged-in session" in answer.json()["detail"]
    user = await house.admin.directory.read("root")
    assert user is not None
    assert user.password is None
    assert (await house.http.put("/session/password", json=PASSWORD, headers=session)).is_success


async def test_who_comes_from_another_issuer_gets_no_password_here(house):
    admin = await house.key("a", Role.ADMIN)
    made = await house.http.put("/members/corp:ada", json={"role": "viewer"}, headers=admin)
    assert made.status_code == 200
    session = await house.login("corp:ada")
    answer = await house.http.put("/session/password", json=PASSWORD, headers=session)
    assert answer.status_code == 422
    assert "through another issuer" in answer.json()["detail"]
    root = await house.login("root")
    made = await house.http.post("/users", json={"name": "corp:eve"}, headers=root)
    assert made.status_code == 201
    bob = {"name": "corp:bob", "password": PASSWORD["new"]}
    answer = await house.http.post("/users", json=bob, headers=root)
    assert answer.json()["errors"][0]["pointer"] == "/password"
    assert await house.admin.directory.read("corp:bob") is None

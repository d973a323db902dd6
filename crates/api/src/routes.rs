//! Paths and who answers them, with a list that can be read: a router cannot be asked for its routes. A test holds the list
//! against `openapi/`.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{self, MethodRouter};

use crate::app::App;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    pub path: String,
    /// As in OpenAPI: `get`.
    pub method: &'static str,
}

#[derive(Default)]
pub struct Routes {
    router: Router<App>,
    list: Vec<Route>,
}

impl Routes {
    pub fn get<H: Handler<T, App>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.add("get", path, routing::get(handler))
    }

    pub fn post<H: Handler<T, App>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.add("post", path, routing::post(handler))
    }

    pub fn put<H: Handler<T, App>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.add("put", path, routing::put(handler))
    }

    pub fn patch<H: Handler<T, App>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.add("patch", path, routing::patch(handler))
    }

    pub fn delete<H: Handler<T, App>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.add("delete", path, routing::delete(handler))
    }

    /// One that is made already: with a layer of its own, or under two paths.
    pub fn get_by(self, path: &str, handler: MethodRouter<App>) -> Self {
        self.add("get", path, handler)
    }

    /// No operation of its own: another way to write a path, or one that only says what is not here.
    pub fn unlisted(mut self, path: &str, handler: MethodRouter<App>) -> Self {
        self.router = self.router.route(path, handler);
        self
    }

    pub fn merge(mut self, other: Routes) -> Self {
        self.router = self.router.merge(other.router);
        self.list.extend(other.list);
        self
    }

    #[cfg(test)]
    pub fn list(&self) -> &[Route] {
        &self.list
    }

    pub fn into_router(self) -> Router<App> {
        self.router
    }

    fn add(mut self, method: &'static str, path: &str, handler: MethodRouter<App>) -> Self {
        self.list.push(Route { path: path.to_owned(), method });
        self.router = self.router.route(path, handler);
        self
    }
}
